/** Recorded replies of seven releases, and the lines that were sent. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { root } from '../support/root.js'
import { inline, quoted } from './simulator/script-steps.js'

export interface RecordedAnswer {
  /** The line as abbreviated in the recording. */
  readonly cmd: string
  readonly status: number
  readonly body: string
}

/** By `varnish-7.1.1`, `vinyl-9.0.1`. */
export function readRecordings(): ReadonlyMap<string, readonly RecordedAnswer[]> {
  const file = join(root, 'test/fixtures/recordings/answers.json.br')
  const text = brotliDecompressSync(readFileSync(file)).toString()
  return new Map(Object.entries(JSON.parse(text) as Record<string, RecordedAnswer[]>)) // its format
}

const start = 'vcl 4.1;\nbackend default none;\n'
const probed =
  'backend b1 { .host = "127.0.0.1"; .port = "9"; .probe = { .interval = 3600s; .initial = 2; } }\n'
const uses = 'sub vcl_recv { set req.backend_hint = b1; }'

/** Texts abbreviated as `<<here …`. */
const texts: Readonly<Record<string, string>> = {
  boot: `${start}${probed}${uses}`,
  bad1: `${start}sub vcl_recv {\n  set req.nonsense = "x";\n}`,
  bad2: `${start}sub vcl_recv {\n  set req.url = "x"\n}`,
  bad3: 'vcl 4.1;\nsub vcl_recv { }',
  bad4: 'sub vcl_recv { }',
  bad5: `${start}import nosuchvmod;`,
  bad6: `${start}include "nosuch.vcl";`,
  bad7: `${start}sub vcl_init { return (fail("no thanks")); }`,
  bad8: `${start}sub vcl_recv { C{ int i; }C }`,
  bad9: `${start}sub vcl_recv { return (vcl(nolabel)); }`,
  unused: `${start}backend b2 none;`,
  v42: 'vcl 4.2;\nbackend default none;',
  v40: 'vcl 4.0;\nbackend default none;',
  q1: start,
  q2: start,
  root: `${start}sub vcl_recv { return (vcl(lab)); }`,
}

/** The line that was sent; null where it was not a separate line. */
export function lineOf(cmd: string): string | null {
  if (cmd.startsWith('(') || cmd.startsWith('[unauth]') || cmd === 'auth') return null
  const [, name = '', rest = ''] = /^vcl\.inline (\S+) (.*)$/.exec(cmd) ?? []
  if (name === '') return cmd
  if (rest.startsWith('<<here')) return inline(name, texts[name] ?? '')
  return `vcl.inline ${name} ${quoted(texts[name] ?? start)}${rest.endsWith('cold') ? ' cold' : ''}`
}
