/** Reads the tokens of a VCL text one after the other; refusals quote the position, in the format of a compiler. */
import { beginScan, scanToken, type Scan } from '../../vcl/scan.js'
import { advancePoint, textStart } from '../../vcl/text-point.js'

/** A token, or several consecutive ones, for messages that point at it. */
export interface Name {
  readonly text: string
  /** Start, and end (exclusive), in UTF-16 units. */
  readonly start: number
  readonly end: number
}

/** The message is the compiler's whole output. */
export class VclRefused extends Error {
  override readonly name = 'VclRefused'
}

export class VclReader {
  readonly #scan: Scan
  #isEnd = false

  constructor(private readonly text: string) {
    this.#scan = beginScan(text)
    this.advance()
  }

  get kind(): Scan['kind'] | 'end' {
    return this.#isEnd ? 'end' : this.#scan.kind
  }

  /** For a string, the text between its delimiters. */
  get value(): string {
    return this.text.slice(this.#scan.valueStart, this.#scan.valueEnd)
  }

  /** As written; at the end of the text, the last token. */
  get token(): Name {
    const { start, end } = this.#scan
    return { text: this.text.slice(start, end), start, end }
  }

  advance(): void {
    this.#isEnd = !scanToken(this.#scan)
    const { kind } = this
    if (kind === 'error') throw this.refuse(this.#scan.reason)
    if (kind === 'inline-c') throw this.refuse('Inline-C not allowed')
    if (this.is('include')) throw this.refuse('A simulated cache has no files to include')
  }

  is(word: string): boolean {
    const { start, end } = this.#scan
    return !this.#isEnd && end - start === word.length && this.text.startsWith(word, start)
  }

  /** Advances and returns true if the token is one of these words. */
  skip(...words: readonly string[]): boolean {
    const isOne = words.some((word) => this.is(word))
    if (isOne) this.advance()
    return isOne
  }

  take(word: string): void {
    if (!this.skip(word)) throw this.refuseInstead(`'${word}'`)
  }

  takeName(): Name {
    if (this.kind !== 'identifier') throw this.refuseInstead('a name')
    const { token } = this
    this.advance()
    return token
  }

  /** `req.http.X-Foo`, `std.log`. */
  takeDottedName(): Name {
    const { start, end: firstEnd } = this.takeName()
    let end = firstEnd
    while (this.skip('.')) {
      // `req.http."odd name"` is a header too.
      if (this.kind !== 'string' && this.kind !== 'identifier') throw this.refuseInstead('a name')
      end = this.token.end
      this.advance()
    }
    return { text: this.text.slice(start, end), start, end }
  }

  refuseInstead(wanted: string): VclRefused {
    const found = this.#isEnd ? 'end of input' : `'${this.token.text}'`
    return this.refuse(`Expected ${wanted} got ${found}`)
  }

  refuse(reason: string, name: Omit<Name, 'text'> = this.token): VclRefused {
    return new VclRefused(`${reason}\n${this.pointAt(name)}`)
  }

  /** Position, line and marks, as the compiler prints them (vcc_token.c vcc_ErrWhere). */
  pointAt({ start, end }: Omit<Name, 'text'>): string {
    const { line, position } = advancePoint(textStart, this.text, 0, start)
    const from = start === 0 ? 0 : this.text.lastIndexOf('\n', start - 1) + 1
    const [shown = ''] = this.text.slice(from).split('\n', 1)
    const marks = '-'.repeat(start - from) + '#'.repeat(Math.min(end, from + shown.length) - start)
    const rest = '-'.repeat(shown.length - marks.length)
    return `('<vcl.inline>' Line ${line} Pos ${position})\n${shown.replaceAll('\t', ' ')}\n${marks}${rest}\n\n`
  }
}
