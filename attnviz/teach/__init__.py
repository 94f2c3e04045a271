"""Teaching: lessons computed (`course`), written (`lessons`), shared (`classroom`); the calculator."""
