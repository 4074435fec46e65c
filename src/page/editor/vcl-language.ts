/** Tokenizer for the colours and indentation of VCL: comments, long strings, durations, subroutines, variables, keywords, blocks. */
import { StreamLanguage, type StringStream } from '@codemirror/language'

interface Inside {
  /** The token that closes the comment or long string in which the line begins; null: neither. */
  closer: '*/' | '"}' | '"""' | null
  /** Number of open blocks. */
  depth: number
}

const keywords =
  /^(?:vcl|import|from|include|backend|probe|acl|sub|new|set|unset|add|call|return|if|else|elseif|elsif|elif|synthetic)$/
const variables =
  /^(?:req|req_top|bereq|beresp|resp|obj|client|server|local|remote|sess|storage|now)(?:\.|$)/
const builtin =
  /^(?:vcl_\w+|ban|hash_data|regsub|regsuball|rollback|std|directors|true|false|lookup|pass|pipe|hash|deliver|fetch|restart|retry|abandon|purge|synth|fail|ok|error)(?:\.|$)/

export const vcl = StreamLanguage.define<Inside>({
  name: 'vcl',
  startState: () => ({ closer: null, depth: 0 }),
  copyState: (inside) => ({ ...inside }),
  token: (stream, inside) => {
    if (inside.closer !== null) return readInside(stream, inside, inside.closer)
    if (stream.eatSpace()) return null
    if (stream.match(/^(?:#|\/\/)/)) return skipLine(stream)
    for (const [opener, closer] of openers)
      if (stream.match(opener)) return readInside(stream, inside, closer)
    if (stream.match(/^"[^"]*"?/)) return 'string'
    if (stream.match(/^\d+(?:\.\d+)?(?:ms|[smhdwy]|[KMGT]?B)?\b/i)) return 'number'
    const word = stream.match(/^[a-z_][\w-]*(?:\.[\w-]+)*/i)
    if (word && word !== true) return nameWord(word[0])
    if (stream.match(/^(?:[=!<>+*/&|~-]+|%)/)) return 'operator'
    countBrace(stream.next(), inside)
    return null
  },
  // The contents of long strings and comments keep their indentation.
  indent: ({ closer, depth }, after, { unit }) =>
    closer === null ? Math.max(0, depth - (after.startsWith('}') ? 1 : 0)) * unit : null,
  languageData: {
    indentOnInput: /^\s*\}$/,
    commentTokens: { line: '#', block: { open: '/*', close: '*/' } },
  },
})

const openers = [
  ['/*', '*/'],
  ['{"', '"}'],
  ['"""', '"""'],
] as const

function readInside(stream: StringStream, inside: Inside, closer: '*/' | '"}' | '"""'): string {
  inside.closer = closer
  if (stream.skipTo(closer)) {
    stream.match(closer)
    inside.closer = null
  } else stream.skipToEnd()
  return closer === '*/' ? 'comment' : 'string'
}

function countBrace(mark: unknown, inside: Inside): void {
  if (mark === '{') inside.depth++
  else if (mark === '}') inside.depth = Math.max(0, inside.depth - 1)
}

function skipLine(stream: StringStream): string {
  stream.skipToEnd()
  return 'comment'
}

function nameWord(word: string): string | null {
  if (keywords.test(word)) return 'keyword'
  if (variables.test(word)) return 'propertyName'
  return builtin.test(word) ? 'atom' : null
}
