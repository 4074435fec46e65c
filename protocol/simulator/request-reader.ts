/** Parses bytes from a client into requests: lines and here-documents (vcli_serve.c cls_feed). */
import type { Quoting } from './release.js'
import { endAtNul, isBlank, parseWords, type Words } from './words.js'

export interface EngineRequest {
  /** The received line, without its line end and a here-document's text. */
  readonly line: string
  readonly parsed: Words
}

/** Before authentication a line is cut, and executed, at this many bytes (vcli_serve.c). */
const strangerLineBytes = 80
/** The real engine has no limit; a simulated one closes the connection beyond this size. */
const requestBytes = 64 * 1024 * 1024

export class RequestReader {
  #pending = ''
  #at = 0
  #line = ''
  #document: HereDocument | undefined

  constructor(private readonly quoting: Quoting) {}

  /** True until the end of a here-document has arrived. */
  get isInsideDocument(): boolean {
    return this.#document !== undefined
  }

  get isOverflown(): boolean {
    return this.#line.length + (this.#document?.lengthBytes ?? 0) > requestBytes
  }

  /** `text` is latin1: one character per byte. */
  push(text: string): void {
    this.#pending = this.#at < this.#pending.length ? this.#pending.slice(this.#at) + text : text
    this.#at = 0
  }

  next(isAuthenticated: boolean): EngineRequest | undefined {
    while (this.#at < this.#pending.length) {
      const request =
        this.#document === undefined ? this.#readLine(isAuthenticated) : this.#readDocument()
      if (request !== undefined) return request
    }
    return undefined
  }

  #readLine(isAuthenticated: boolean): EngineRequest | undefined {
    const pending = this.#pending
    if (this.#line === '' && isBlank(pending.charCodeAt(this.#at))) {
      this.#at++
      return undefined
    }
    const room = isAuthenticated ? Infinity : strangerLineBytes - this.#line.length
    const end = findLineEnd(pending, this.#at)
    const stop = Math.min(end, this.#at + room)
    this.#line += pending.slice(this.#at, stop)
    this.#at = stop
    if (stop >= pending.length) return undefined
    this.#at++ // skips the line's end, or the byte beyond the limit
    const line = this.#line
    this.#line = ''
    const parsed = parseWords(line.startsWith('-') ? line.slice(1) : line, this.quoting)
    if (isAuthenticated && 'words' in parsed && parsed.words.at(-2) === '<<') {
      const token = parsed.words.at(-1) ?? ''
      if (token !== '') {
        this.#document = new HereDocument(line, parsed.words.slice(0, -2), token)
        return undefined
      }
    }
    return { line, parsed }
  }

  #readDocument(): EngineRequest | undefined {
    const document = this.#document
    if (document === undefined) return undefined
    this.#at = document.feed(this.#pending, this.#at)
    if (document.text === undefined) return undefined
    this.#document = undefined
    return { line: document.line, parsed: { words: [...document.words, document.text] } }
  }
}

/**
 * Text up to its token and a line end. The token is matched anywhere without backtracking: `EEOF` does not end a text that `EOF` would end.
 */
class HereDocument {
  text: string | undefined
  lengthBytes = 0
  #pieces: string[] = []
  #matched = 0

  constructor(
    readonly line: string,
    readonly words: readonly string[],
    readonly token: string,
  ) {}

  /** Consumes `input` from `at`; returns where it stopped. */
  feed(input: string, at: number): number {
    const token = this.token
    let plainFrom = at
    const keep = (upTo: number) => {
      if (upTo > plainFrom) this.#keep(input.slice(plainFrom, upTo))
    }
    for (let i = at; i < input.length; i++) {
      const character = input[i]
      if (this.#matched === token.length && (character === '\n' || character === '\r')) {
        this.text = endAtNul(this.#pieces.join(''))
        return i + 1
      }
      if (character === token[this.#matched]) {
        if (this.#matched === 0) keep(i)
        this.#matched++
        plainFrom = i + 1
      } else if (this.#matched > 0) {
        this.#keep(token.slice(0, this.#matched))
        this.#matched = 0
        plainFrom = i
      }
    }
    keep(input.length)
    return input.length
  }

  #keep(piece: string): void {
    this.#pieces.push(piece)
    this.lengthBytes += piece.length
  }
}

function findLineEnd(text: string, from: number): number {
  const lineEnd = /[\n\r]/g
  lineEnd.lastIndex = from
  return lineEnd.exec(text)?.index ?? text.length
}
