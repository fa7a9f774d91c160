# place file|folder|make PATH: remove a file or folder, or make a folder.
[ ! -d "$home" ] || locked
case $1 in
file) rm -f -- "$(beside "$2")" "$2" ;;
folder) [ ! -d "$2" ] || rmdir -- "$2" ;;
make) [ -d "$2" ] || { mkdir -m 755 -- "$2" && { restorecon -- "$2" 2>/dev/null; :; }; } ;;
esac || exit 9
synced "${2%/*}"
