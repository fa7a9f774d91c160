"""python -m app.web.pages.help FOLDER: write the documentation as a site."""

import sys
from pathlib import Path

from app.web.pages.help.static_site import write_site

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    sys.stdout.write(f"{write_site(folder)} pages: open {folder / 'index.html'}\n")
