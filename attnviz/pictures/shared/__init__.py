"""What all canvases share: packing, joining their scripts, selections, the views of heads."""
