/** The completion script for zsh. */
import { joinLists, printCases } from './completion-bash.js'
import { readCompletionFacts } from './completion-facts.js'
import type { Grammar } from './verb.js'

/** `compadd` receives all candidates; zsh drops those that do not match the typed prefix. */
export function printZsh(grammar: Grammar): string {
  const facts = readCompletionFacts(grammar)
  return `#compdef cachefleet
_cachefleet() {
  local word value="" candidates="" noun=""
  local -a given where found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n "$value" ]]; then
      [[ "$value" == --server || "$value" == --context ]] && where+=("$value" "$word")
      value=""
      continue
    fi
    case "$word" in
      ${facts.withValue.join('|')}) value="$word" ;;
      -*) ;;
      *) given+=("$word") ;;
    esac
  done
  if [[ -n "$value" ]]; then
    case "$value" in
${printCases(facts.namesOfFlag, 'noun')}
    esac
    compset -P '*,'
  elif [[ "$PREFIX" == -* ]]; then
    candidates="${facts.everywhere.join(' ')}"
    case "\${given[1]} \${given[2]}" in
${printCases(joinLists(facts.flagsOf), 'candidates', '$candidates ')}
    esac
  elif (( \${#given} == 0 )); then
    candidates="${facts.first.join(' ')}"
  elif (( \${#given} == 1 )); then
    case "\${given[1]}" in
${printCases(joinLists(facts.verbsOf), 'candidates')}
    esac
  else
    case "\${given[1]} \${given[2]}" in
${printCases(facts.namesOf, 'noun')}
    esac
  fi
  if [[ -n "$noun" ]]; then
    found=(\${(f)"$(cachefleet "\${where[@]}" complete-names "$noun" 2>/dev/null)"})
    compadd -a found
  elif [[ -n "$candidates" ]]; then
    compadd -- \${(s: :)candidates}
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == _cachefleet ]]; then
  _cachefleet "$@"
else
  compdef _cachefleet cachefleet
fi
`
}
