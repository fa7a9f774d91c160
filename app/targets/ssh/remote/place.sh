# place file|folder|make PATH: a path taken away, or a folder made.
[ ! -d "$home" ] || locked
case $1 in
file) rm -f -- "$(beside "$2")" "$2" ;;
folder) [ ! -d "$2" ] || rmdir -- "$2" ;;
make) [ -d "$2" ] || mkdir -m 755 -- "$2" ;;
esac || exit 9
synced "${2%/*}"
