/** The completion script for bash. */
import { readCompletionFacts } from './completion-facts.js'
import type { Grammar } from './verb.js'

/** Words other than flags and flag values select the candidates. If there are none, bash offers file names. */
export function printBash(grammar: Grammar): string {
  const facts = readCompletionFacts(grammar)
  return `# bash completion for cachefleet
_cachefleet() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local word value="" words=() where=() candidates="" noun="" prefix=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ -n $value ]]; then
      [[ $value == --server || $value == --context ]] && where+=("$value" "$word")
      value=""
      continue
    fi
    case "$word" in
      ${facts.withValue.join('|')}) value="$word" ;;
      -*) ;;
      *) words+=("$word") ;;
    esac
  done
  if [[ -n $value ]]; then
    case "$value" in
${printCases(facts.namesOfFlag, 'noun')}
    esac
    [[ $current == *,* ]] && prefix="\${current%,*},"
  elif [[ $current == -* ]]; then
    candidates="${facts.everywhere.join(' ')}"
    case "\${words[0]-} \${words[1]-}" in
${printCases(joinLists(facts.flagsOf), 'candidates', '$candidates ')}
    esac
  elif [[ \${#words[@]} == 0 ]]; then
    candidates="${facts.first.join(' ')}"
  elif [[ \${#words[@]} == 1 ]]; then
    case "\${words[0]}" in
${printCases(joinLists(facts.verbsOf), 'candidates')}
    esac
  else
    case "\${words[0]} \${words[1]}" in
${printCases(facts.namesOf, 'noun')}
    esac
  fi
  [[ -n $noun ]] && candidates="$(cachefleet "\${where[@]}" complete-names "$noun" 2>/dev/null)"
  COMPREPLY=($(compgen -P "$prefix" -W "$candidates" -- "\${current#"$prefix"}"))
}
complete -o default -F _cachefleet cachefleet
`
}

export function joinLists(
  lists: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, string> {
  return new Map(
    [...lists]
      .filter(([, values]) => values.length > 0)
      .map(([key, values]) => [key, values.join(' ')]),
  )
}

/** The branches of a `case` in bash or zsh. `before`: prefix of every value. A key that ends with a star matches any word there. */
export function printCases(
  values: ReadonlyMap<string, string>,
  variable: string,
  before = '',
): string {
  return [...values]
    .map(([key, value]) => {
      const pattern = key.endsWith('*') ? `"${key.slice(0, -1)}"*` : `"${key}"`
      return `      ${pattern}) ${variable}="${before}${value}" ;;`
    })
    .join('\n')
}
