usage() {
  cat <<END
$0 [--check] [--root FOLDER] [RULE...]

Does what passed in Temper run $RUN, rule by rule: asks first, keeps the old files, changes, asks again, and puts the
old files back where something is wrong. What is done already is left alone. All rules unless some are named.

--check   change nothing, say what would be done
--root    the files are under FOLDER, an image or a chroot: nothing is asked of the running host, nothing reloaded
Old files are kept in $KEPT.
END
}

CHECK='' ROOT='' WANTED='' FAILED='' KEPT=${TEMPER_KEPT:-/var/lib/temper-kept}/$RUN/$(date -u +%Y%m%dT%H%M%SZ)
while [ $# -gt 0 ]; do
  case $1 in
    --check) CHECK=1 ;;
    --root) ROOT=${2:?--root wants a folder}; shift ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 64 ;;
    *) WANTED="$WANTED $1 " ;;
  esac
  shift
done

say() { printf '%s\n' "$*"; }

changed_to() { # FILE: replaces its content with standard input; mode, owner and label stay
  cp -a -- "$1" "$1.temper-new" && cat >"$1.temper-new" && mv -f -- "$1.temper-new" "$1"
}

edit() { # STATE ROOT DO PATH OLD NEW STATES AFTER MODE ...
  local state=$1 file=$2$4 do=$3 old=$5 new=$6 states=$7 after=$8 mode=$9 text
  case $do in
    mode) chmod -- "$mode" "$file" ;;
    write)
      if [ -e "$file" ]; then printf '%s' "$new" | changed_to "$file"
      else mkdir -p -- "$(dirname -- "$file")" && (umask 077 && printf '%s' "$new" >"$file"); fi && chmod -- "$mode" "$file" ;;
    *)
      text=$(TEMPER_DO=$do TEMPER_OLD=$old TEMPER_NEW=$new TEMPER_AFTER=$after TEMPER_LOOSE=$([ "$state" = 11 ] && grep -niE "$states" "$file" | cut -d: -f1) \
        awk 'function bare(s) { sub(/[ \t\r]+$/, "", s); return s }
          BEGIN { how = ENVIRON["TEMPER_DO"]; old = bare(ENVIRON["TEMPER_OLD"]); made = ENVIRON["TEMPER_NEW"]
            after = bare(ENVIRON["TEMPER_AFTER"]); loose = ENVIRON["TEMPER_LOOSE"] + 0 }
          { lines[NR] = $0; if (after != "" && bare($0) == after) at = NR }
          END { if (how == "insert" && !at) at = NR
            for (n = 1; n <= NR; n++) {
              if (how == "remove" && bare(lines[n]) == old) continue
              if (how == "replace" && (loose ? n == loose : bare(lines[n]) == old)) print made; else print lines[n]
              if (how == "insert" && n == at) print made }
            if (how == "insert" && !NR) print made; print "." }' "$file") || return
      # The dot protects trailing newlines, which the shell would strip.
      printf '%s' "${text%.}" | changed_to "$file" ;;
  esac
}

asked() { # WHEN: runs this rule's checks on the running host
  local at=0 said
  [ -n "$ROOT" ] && return 0
  while [ $at -lt ${#CHECKS[@]} ]; do
    said=$(sh -c "${CHECKS[at + 1]}" 2>&1) || { say "$ID: $1, not so: ${CHECKS[at]}. $said" >&2; return 1; }
    at=$((at + 2))
  done
}

keep() {
  local path
  for path in "${PATHS[@]}"; do
    [ -e "$ROOT$path" ] || [ -L "$ROOT$path" ] || continue
    mkdir -p -- "$KEPT/$ID$(dirname -- "$path")" && cp -a -- "$ROOT$path" "$KEPT/$ID$path" || return
  done
}

put_back() {
  local path at=${#done[@]}
  for path in "${PATHS[@]}"; do
    if [ -e "$KEPT/$ID$path" ] || [ -L "$KEPT/$ID$path" ]; then
      cp -a -- "$KEPT/$ID$path" "$ROOT$path.temper-new" && mv -f -- "$ROOT$path.temper-new" "$ROOT$path"
    else rm -f -- "$ROOT$path"; fi
  done
  # Undo commands may read the restored files, so they run last.
  while [ "$at" -gt 0 ]; do at=$((at - 1)); TEMPER_KEPT_IN="$KEPT/$ID" sh -c "${DEEDS[done[at] + 2]}" >/dev/null 2>&1; done
  reload
}

reload() {
  local service
  [ -n "$ROOT" ] && return 0
  for service in "${SERVICES[@]}"; do temper_reload "$service" || return; done
}

failed() { FAILED="$FAILED $ID"; say "$ID: $*" >&2; }

# rule: applies one rule, given as ID, TITLE, PATHS, SERVICES, CHECKS, EDITS (for each edit its number of words, then
# the words) and DEEDS (test, apply and undo commands).
rule() {
  local at=0 count state words todo=() deeds=() done=()
  case $WANTED in '' | *" $ID "*) ;; *) return 0 ;; esac
  while [ $at -lt ${#EDITS[@]} ]; do
    count=${EDITS[at]} words=("${EDITS[@]:at + 1:count}")
    (temper_judge "$ROOT" "${words[@]}")
    state=$?
    case $state in
      0) ;;
      10 | 11) todo+=("$state" "$at") ;;
      *) failed "left as it is: this host is not as the run found its own"; return ;;
    esac
    at=$((at + 1 + count))
  done
  [ ${#DEEDS[@]} = 0 ] || [ -z "$ROOT" ] || { failed 'left as it is: it takes a host that runs'; return; }
  at=0
  while [ $at -lt ${#DEEDS[@]} ]; do
    sh -c "${DEEDS[at]}" >/dev/null 2>&1 || deeds+=("$at")
    at=$((at + 3))
  done
  [ ${#todo[@]} = 0 ] && [ ${#deeds[@]} = 0 ] && { say "$ID: ok, $TITLE"; return 0; }
  asked 'before the change' || { failed 'left as it is'; return; }
  [ -n "$CHECK" ] && { say "$ID: would change ${PATHS[*]:-what is no file}"; return 0; }
  keep || { failed 'left as it is: the old files cannot be kept'; return; }
  at=0
  while [ $at -lt ${#todo[@]} ]; do
    count=${EDITS[todo[at + 1]]} words=("${EDITS[@]:todo[at + 1] + 1:count}")
    edit "${todo[at]}" "$ROOT" "${words[@]}" || { put_back; failed 'taken back: it could not be written'; return; }
    at=$((at + 2))
  done
  for at in "${deeds[@]}"; do
    done+=("$at")
    TEMPER_KEPT_IN="$KEPT/$ID" sh -c "${DEEDS[at + 1]}" || { put_back; failed 'taken back: it could not be done'; return; }
  done
  reload || { put_back; failed 'taken back: what reads the file did not take it'; return; }
  asked 'after the change' || { put_back; failed 'taken back'; return; }
  say "$ID: changed, $TITLE"
}
