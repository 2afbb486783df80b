"""How facts read wherever they are shown: numbers with units, and the width of what they are printed on."""
