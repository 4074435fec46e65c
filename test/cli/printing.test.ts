/** The CLI's output and its parsing of arguments: the parts without a connection. */
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import t from 'tap'
import { toCell, toLines } from '../../src/cli/cells.js'
import { CliError, describeError, exitCodes } from '../../src/cli/cli-error.js'
import { formatCsv } from '../../src/cli/csv.js'
import { describeDeploying } from '../../src/cli/deploy-progress.js'
import { hasShare, judgeWaitEnd, readGroup } from '../../src/cli/deploy-verdict.js'
import { isId, splitNames } from '../../src/cli/find-object.js'
import { toSource } from '../../src/cli/given-text.js'
import { grammar } from '../../src/cli/grammar.js'
import { toJsonText, toPrintableLine, toPrintableText } from '../../src/cli/printable-text.js'
import { formatTable } from '../../src/cli/table.js'
import { toKebab } from '../../src/cli/verb.js'
import { call, makeHome } from './run-cli.js'

const here = { environment: {} }

void t.test('CSV follows RFC 4180: every cell reads back, formulas with an apostrophe', (t) => {
  const cell = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('=', '+', '-', '@', '"', ',', '\r', '\n', 'a') }),
  )
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 2 })), (rows) => {
      const read = readCsv(formatCsv(['id', 'name'], rows))
      const wanted = rows.map((row) =>
        row.map((text) => (/^[=+\-@]/.test(text) ? `'${text}` : text)),
      )
      t.strictSame(read, [['id', 'name'], ...wanted])
    }),
  )
  t.equal(formatCsv(['a'], []), 'a\r\n')
  t.end()
})

void t.test('control characters in names are escaped', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      t.notMatch(toPrintableLine(text), /[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u)
      t.notMatch(toPrintableText(text), /[^\P{Cc}\n\t]/u)
      t.notMatch(toJsonText(text), /[\p{Cc}\u2028\u2029]/u)
      t.equal(JSON.parse(toJsonText(text)), text)
    }),
  )
  t.equal(toPrintableLine('a\x1b[31mb\u202e漢'), 'a\\u001b[31mb\\u202e漢')
  t.end()
})

void t.test(
  'a table aligns its columns, wide characters and combining marks included, one line per row',
  (t) => {
    const rows = [
      ['1', '漢字', 'x'],
      ['22', 'e\u0301', 'y\nz'],
    ]
    t.equal(
      formatTable(['ID', 'NAME', 'LAST'], rows, { colour: false }),
      'ID  NAME  LAST\n1   漢字  x\n22  e\u0301     y …\n',
    )
    t.equal(formatTable(['ID'], [], { colour: false }), 'ID\n')
    t.end()
  },
)

void t.test('colour marks titles and states, and takes no width', (t) => {
  const table = formatTable(['NAME', 'STATE', 'X'], [['a', 'Down', '1']], { colour: true })
  t.equal(
    table,
    '\x1b[1mNAME\x1b[22m  \x1b[1mSTATE\x1b[22m  \x1b[1mX\x1b[22m\na     \x1b[31mDown\x1b[39m   1\n',
  )
  t.end()
})

void t.test('references are shown by name, objects by their fields', (t) => {
  const group = {
    id: 1,
    name: 'site',
    mainVCL: { id: 4, name: 'main.vcl' },
    domains: [{ id: 5, fqdn: 'a.example' }],
    tags: [],
    config: { desired: { revision: 3 } },
    agentStates: [{ agent: { id: 9, name: 'edge' }, state: 'applied', error: null }],
    staged: null,
  }
  t.strictSame(
    toLines(group).map(({ label, text }) => `${label}: ${text}`),
    [
      'id: 1',
      'name: site',
      'mainVCL: main.vcl (4)',
      'domains: a.example (5)',
      'tags: ',
      'config.desired.revision: 3',
      'agentStates[0]: agent=edge state=applied',
      'staged: ',
    ],
  )
  t.equal(toCell(group.domains), 'a.example')
  t.end()
})

void t.test('an error is one line with its trace id, or the body as JSON', (t) => {
  const body = { traceId: 'trace-0001', errorKey: 'tag', errorMsg: '9 was not found' }
  const error = new CliError(exitCodes.refused, '9 was not found', { status: 404, body })
  t.equal(describeError(error, false), 'cachefleet: 9 was not found (trace trace-0001)')
  t.strictSame(JSON.parse(describeError(error, true)), body)
  const lines = { status: 400, body: { ...body, errorMsg: 'Invalid number (x)\n\n(of y)' } }
  t.equal(
    describeError(new CliError(exitCodes.refused, lines.body.errorMsg, lines), false),
    'cachefleet: Invalid number (x) (of y) (trace trace-0001)',
  )
  t.equal(
    describeError(new Error('odd'), true),
    '{"errorKey":"client","errorMsg":"odd"}',
    'an error from elsewhere than the API has no trace',
  )
  t.end()
})

void t.test('lists of names are split at unescaped commas', (t) => {
  t.strictSame(splitNames('a,b c,,7'), ['a', 'b c', '7'])
  t.strictSame(splitNames('a\\,b,c\\\\d,e\\f'), ['a,b', 'c\\d', 'e\\f'])
  t.strictSame(splitNames(''), [])
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', minLength: 1 })), (names) => {
      const typed = names.map((name) => name.replace(/[\\,]/g, '\\$&')).join(',')
      t.strictSame(splitNames(typed), names)
    }),
  )
  t.end()
})

void t.test('digits are an id, everything else is a name', (t) => {
  for (const id of ['1', '42', '9999999999999999']) t.ok(isId(id), id)
  for (const name of ['0', '01', '12345678901234567', '1a', '-1', '', ' 1'])
    t.notOk(isId(name), name)
  t.end()
})

void t.test('flags are the API fields in kebab-case', (t) => {
  const spellings = { mainVCL: 'main-vcl', keepOnFailure: 'keep-on-failure', baseURL: 'base-url' }
  for (const [field, flag] of Object.entries(spellings)) t.equal(toKebab(field), flag)
  t.end()
})

void t.test('a source is sent as text if it is text, else as base64, and keeps its bytes', (t) => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const { source, encoded } = toSource(Buffer.from(bytes))
      t.strictSame([...Buffer.from(source, encoded ? 'base64' : 'utf8')], [...bytes])
      t.notOk(!encoded && source.includes('\0'))
    }),
  )
  t.strictSame(toSource(Buffer.from('\ufeffvcl 4.1;')), {
    source: '\ufeffvcl 4.1;',
    encoded: false,
  })
  t.end()
})

const place = (id: number, state: string, revision: number | null) => ({
  agent: { id, name: `edge-${id}` },
  state,
  revision,
})
const group = (revision: number, ...agentStates: ReturnType<typeof place>[]) =>
  readGroup({ name: 'site', stateName: 'Deploying', revision, agentStates })

void t.test('a wait ends partly done if every deployment reached its min, else unfinished', (t) => {
  const web = { min: 1, agentIds: new Set([1, 2]) }
  const edge = { min: 1, agentIds: new Set([3]) }
  const one = group(2, place(1, 'applied', 2), place(2, 'wanted', 1), place(3, 'applied', 1))
  t.equal(judgeWaitEnd(one, [web]), exitCodes.partial)
  t.equal(judgeWaitEnd(one, [web, edge]), exitCodes.unfinished, 'the old revision does not count')
  t.equal(judgeWaitEnd(one, [{ ...web, min: 2 }]), exitCodes.unfinished)
  t.end()
})

void t.test('the share is relative to the placed agents', (t) => {
  const half = group(2, place(1, 'applied', 2), place(2, 'failed', 1))
  t.ok(hasShare(half, 50))
  t.notOk(hasShare(half, 51))
  t.ok(hasShare(half, 0))
  t.end()
})

void t.test('progress counts loaded places, then applied ones', (t) => {
  const loading = group(1, place(1, 'applied', 1), place(2, 'applying', 1))
  t.equal(describeDeploying(loading, 1), 'site: 1/2 loaded')
  const applying = group(2, place(1, 'applied', 2), place(2, 'failed', 1), place(3, 'wanted', 1))
  t.equal(describeDeploying(applying, 1), 'site: 1/3 applied, 1 failed')
  t.end()
})

void t.test(
  'help exists on every level with usage and an example, and needs no connection',
  async (t) => {
    const paths = [
      [],
      ...grammar.verbs.map(({ name }) => [name]),
      ...grammar.nouns.flatMap(({ name, aliases, verbs }) => [
        ...[name, ...aliases].map((spelling) => [spelling]),
        ...verbs.map((verb) => [name, verb.name]),
      ]),
    ]
    for (const path of paths) {
      const { code, out, err } = await call([...path, '--help'], here)
      t.strictSame([code, err], [0, ''], path.join(' '))
      t.match(out, /^Usage: cachefleet/, path.join(' '))
      t.match(out, /Example:\n {2}\$ cachefleet /, path.join(' '))
      t.notMatch(out, /--(password|token|secret|client-secret)[\s=]/, 'no secret is a flag value')
    }
  },
)

void t.test('a misspelt word gets a suggestion', async (t) => {
  const table: [string, RegExp][] = [
    ['vclgroup deplyo 1', /Unknown command 'deplyo' \(Did you mean deploy\?\)\n$/],
    ['agnets list', /Unknown command 'agnets' \(Did you mean agents\?\)\n$/],
    ['tags list --flter a=b', /Unknown option '--flter' \(Did you mean --filter\?\)\n$/],
    ['quux', /Unknown command 'quux'; --help lists what there is\n$/],
  ]
  for (const [words, message] of table)
    t.match(await call(words.split(' '), here), { code: exitCodes.usage, out: '', err: message })
})

void t.test('every example is valid usage', async (t) => {
  const examples = [
    ...grammar.verbs.map(({ example }) => example),
    ...grammar.nouns.flatMap(({ example, verbs }) => [
      example,
      ...verbs.map((verb) => verb.example),
    ]),
  ]
  const nowhere = { CACHEFLEET_SERVER: 'http://127.0.0.1:1', CACHEFLEET_TOKEN: 'x' }
  const environment = { ...(await makeHome(t)), ...nowhere }
  for (const example of examples) {
    const [command = ''] = example.split(' > ')
    const words =
      command.match(/"[^"]*"|'[^']*'|\S+/g)?.map((word) => word.replace(/["']/g, '')) ?? []
    const { err } = await call(words, { environment })
    t.notMatch(err, /unknown (command|option)|too many|argument missing|missing required/i, example)
    t.notMatch(err, /whole number|expected/, example)
  }
})

void t.test('help uses the right article, and hides verbs for programs', async (t) => {
  const { out: agent } = await call(['agents', '-h'], here)
  t.match(agent, /changes an agent/)
  const { out: tag } = await call(['tag', '--help'], here)
  t.match(tag, /creates a tag/)
  const { out: root } = await call(['--help'], here)
  t.notMatch(root, /complete-names/)
  for (const { name } of grammar.nouns) t.match(root, new RegExp(`^ {2}${name}\\b`, 'm'))
})

void t.test(
  'usage errors end with 2, one line on standard error, and nothing on standard output',
  async (t) => {
    const cases = [
      ['nosuchnoun'],
      ['tags', 'nosuchverb'],
      ['tags', 'list', '--no-such-flag'],
      ['accounts', 'update', '1', '--locked=yes'],
      ['tags', 'get'],
      ['tags', 'get', '1', '2'],
      ['tags', 'delete', '--yes'],
      ['tags', 'delete', '1'],
      ['tags', 'list', '--json', '--csv'],
      ['tags', 'list', '--filter', 'name'],
      ['tags', 'list', '--filter', 'name=a', '--filter', 'name=b'],
      ['vclgroups', 'deploy'],
      ['vclgroups', 'deploy', '1', '--wait', 'banana'],
      ['vclgroups', 'deploy', '1', '--wait', '601'],
      ['vclgroups', 'deploy', '1', '--wait', '1.5'],
      ['vclgroups', 'deploy', '1', '--plan', '--waves', '1,10%'],
      ['vclgroups', 'deploy', '1', '--percent', '101'],
      ['vclgroups', 'deploy', '1', '--percent', '-1'],
      ['vclgroups', 'undeploy', '1'],
      ['files', 'diff', '1', '--from', '1'],
      ['files', 'upload', '/no/such/folder'],
      ['completion', 'tcsh'],
      ['login', '--user', 'x'],
      ['login', '--user', 'x', '--password', 'not a real one'],
      ['login', '--server', 'ftp://127.0.0.1', '--user', 'x', '--password-stdin'],
      ['login', '--server', 'not a url', '--user', 'x', '--password-stdin'],
      ['login', '--server', 'http://a:b@127.0.0.1', '--user', 'x', '--password-stdin'],
    ]
    for (const words of cases) {
      const { code, out, err } = await call(words, { ...here, input: 'secret\n' })
      t.equal(code, exitCodes.usage, `${words.join(' ')}: ${err}`)
      t.match(err, /^cachefleet: [^\n]+\n$/, words.join(' '))
      t.equal(out, '', words.join(' '))
    }
    t.match(await call([], here), { code: exitCodes.usage, out: '', err: /Usage/ })
  },
)

void t.test(
  'completion scripts contain nouns, verbs and flags, and the bash script completes them',
  async (t) => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, out } = await call(['completion', shell], here)
      t.equal(code, 0)
      for (const word of ['vclgroups', 'deploy', 'percent', 'completion', 'password-stdin'])
        t.ok(out.includes(word), `${shell} has ${word}`)
    }
    const { out: script } = await call(['completion', 'bash'], here)
    const complete = (...words: string[]): string[] =>
      execFileSync(
        'bash',
        [
          '-c',
          `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}; _cachefleet; echo "\${COMPREPLY[@]}"`,
        ],
        { encoding: 'utf8' },
      )
        .trim()
        .split(' ')
    t.strictSame(complete('cachefleet', 'vclg'), ['vclgroups'])
    t.strictSame(complete('cachefleet', 'vg', 'un'), ['undeploy'])
    t.strictSame(complete('cachefleet', '--json', 'vclgroups', 'undeploy', '--pe'), ['--percent'])
    t.strictSame(complete('cachefleet', 'login', '--pass'), ['--password-stdin', '--password-file'])
    t.strictSame(complete('cachefleet', 'tags', 'list', '--ta'), ['--take'])
    t.strictSame(complete('cachefleet', 'nonsense', ''), [''])
  },
)

/** RFC 4180. */
function readCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, cell = '', end] of text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)) {
    row.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}
