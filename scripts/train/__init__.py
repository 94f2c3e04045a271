"""How the embedded models are made: `make train NAME=stories`; one module each, one trainer."""
