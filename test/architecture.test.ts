/** The import rules of ARCHITECTURE.md, checked from the import lines. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { version } from '../src/version.js'
import { listSources, read, readImports } from './support/import-lines.js'
import { root } from './support/root.js'

const base = [
  'errors',
  'context',
  'log',
  'speaks-tls',
  'presented-chain',
  'version',
  'group-by',
  'json-excess',
  'mismatch',
  'json-parts',
  'in-steps',
  'yaml-lines',
].map((name) => `src/${name}.ts`)
/** What every folder of the coordinator may import. */
const coordinatorBase = [
  ...['src/resources/', 'src/vcl/', 'src/traffic/', 'src/messages/', 'src/runtime/'],
  ...['src/test-files/', 'src/source-network.ts'],
  ...base,
  ...['service', 'background', 'hourly'].map((name) => `src/coordinator/${name}.ts`),
]
const mechanisms = ['http', 'store', 'bus'].map((name) => `src/coordinator/${name}/`)

/** Folder → which of our own files its files may import; packages are listed separately. The first match counts. */
const rules: readonly (readonly [folder: string, allowed: readonly string[]])[] = [
  ['protocol/', ['protocol/']],
  ['config/', ['config/']],
  // Errors are values with a kind: the only part of `base` that these folders may use.
  ['src/resources/', ['src/resources/', 'src/errors.ts']],
  ['src/vcl/', ['src/vcl/', 'src/resources/', 'src/errors.ts']],
  [
    'src/test-files/',
    ['src/test-files/', 'src/vcl/', 'src/resources/', 'src/errors.ts', 'src/yaml-lines.ts'],
  ],
  ['src/traffic/', ['src/traffic/', 'src/resources/', 'src/errors.ts']],
  [
    'src/messages/',
    [
      ...['src/messages/', 'src/vcl/', 'src/traffic/', 'src/resources/'],
      ...['src/mismatch.ts', 'src/json-parts.ts'],
    ],
  ],
  // Its libraries, and the trace id for its log lines. Used by the daemons and the client, never by code that only decides.
  ['src/runtime/', ['src/runtime/', 'src/context.ts']],
  [
    'src/agent/',
    [
      ...['src/agent/', 'protocol/', 'src/vcl/', 'src/resources/', 'src/messages/', 'src/runtime/'],
      'src/traffic/',
      ...base,
    ],
  ],
  // Storage, transport and HTTP know nothing about the resources that they carry.
  ...mechanisms.map(
    (folder) =>
      [
        folder,
        [
          folder,
          ...['src/resources/', 'src/messages/', 'src/runtime/', 'src/source-network.ts', ...base],
        ],
      ] as const,
  ),
  ['src/coordinator/fleet/', ['src/coordinator/fleet/', ...mechanisms, ...coordinatorBase]],
  // A capability; the test of cycles between folders limits which capability may import which.
  ...listCapabilities().map(
    (folder) => [folder, ['src/coordinator/', ...coordinatorBase]] as const,
  ),
  // They use the same decisions, VCL flattening and translation of compiler messages as everything else.
  ...['apply', 'upgrade', 'test'].map((name) => {
    const shared = [
      'src/cli/',
      'src/resources/',
      'src/vcl/',
      'src/test-files/',
      'src/yaml-lines.ts',
    ]
    return [
      `src/cli/${name}/`,
      name === 'test' ? [...shared, 'src/vcl-tests/', 'src/runtime/'] : shared,
    ] as const
  }),
  // VCL tests run in a private cache, which is started as an agent starts one.
  [
    'src/vcl-tests/',
    ['vcl-tests', 'test-files', 'agent', 'vcl', 'traffic', 'resources', 'runtime']
      .map((name) => `src/${name}/`)
      .concat('protocol/', base),
  ],
  [
    'src/cli/',
    [
      'src/cli/',
      'src/resources/',
      'src/runtime/',
      ...['speaks-tls', 'presented-chain', 'version', 'start-program'].map(
        (name) => `src/${name}.ts`,
      ),
    ],
  ],
  // Run once by root on a cache host: uses the agent's discovery of caches, and starts the agent's service.
  [
    'src/enroll/',
    [
      ...['src/enroll/', 'src/agent/', 'protocol/', 'config/', 'src/resources/', 'src/runtime/'],
      ...['mismatch', 'secret-line', 'systemd-unit'].map((name) => `src/${name}.ts`),
    ],
  ],
  // Run by root for a coordinator's service, outside that service.
  [
    'src/backup/',
    [
      ...['backup', 'coordinator', 'enroll', 'resources', 'runtime'].map((name) => `src/${name}/`),
      ...['config/', ...base],
      ...['secret-line', 'service-settings', 'hide-arguments', 'state-dir'].map(
        (name) => `src/${name}.ts`,
      ),
    ],
  ],
  // Checks both agents and coordinators of a host, as their services see it.
  ['src/doctor/', ['src/', 'protocol/', 'config/']],
  // Both clients share the reader of the event stream and the sanitizing of foreign texts.
  [
    'src/page/',
    [
      ...['src/page/', 'src/resources/', 'src/runtime/backoff.ts'],
      ...['src/cli/event-stream.ts', 'src/cli/printable-text.ts'],
    ],
  ],
  // The composition roots.
  ['src/coordinator/', ['src/coordinator/', ...coordinatorBase]],
  ['src/', ['src/', 'config/']],
]

/** Third-party packages with access to the outside, and the files that may import them. */
const outsiders: readonly (readonly [name: string, files: readonly string[]])[] = [
  ['better-sqlite3', ['src/coordinator/store/sqlite-library.ts']],
  [
    'pg',
    ['src/coordinator/store/postgres.ts', 'src/coordinator/statistics/store/postgres-rows.ts'],
  ],
  ['@nats-io/transport-node', ['src/coordinator/bus/nats.ts']],
  ['ws', ['src/agent/', 'src/coordinator/gateway/']],
  ['convict', ['config/']],
  ['fastify', ['src/coordinator/http/']],
  ['prom-client', ['src/coordinator/http/metrics.ts']],
  ['jose', ['src/coordinator/identity/', 'src/coordinator/console/']],
  ['@node-rs/argon2', ['src/coordinator/identity/passwords.ts']],
  ['@peculiar/asn1-x509', ['src/coordinator/tls/issue-certificate.ts']],
  ['node-cron', ['src/coordinator/hourly.ts']],
  ['p-retry', ['src/runtime/']],
  ['lru-cache', ['src/runtime/']],
  ['commander', ['src/cli/']],
  ['preact', ['src/page/']],
  ['@preact/signals', ['src/page/']],
  ['wouter-preact', ['src/page/']],
]

const files = ['protocol', 'config', 'src'].flatMap((folder) => listSources(join(root, folder)))
const imports = files.flatMap(readImports)

void t.test('every folder imports only what ARCHITECTURE.md allows', (t) => {
  const broken = imports.filter(({ file, target, isOwn }) => {
    const allowed = rules.find(([folder]) => file.startsWith(folder))?.[1] ?? []
    return isOwn && !allowed.some((one) => target.startsWith(one))
  })
  t.same(broken, [])
  t.ok(imports.length > 100, 'the import lines were found')
  t.end()
})

void t.test('protocol/ imports nothing but Node; vcl/ imports no input or output', (t) => {
  const packages = imports.filter(({ isOwn }) => !isOwn)
  t.same(
    packages.filter(
      ({ file, target }) => file.startsWith('protocol/') && !target.startsWith('node:'),
    ),
    [],
  )
  t.same(
    packages.filter(
      ({ file, target }) =>
        file.startsWith('src/vcl/') && target !== 'node:crypto' && target !== 'typebox',
    ),
    [],
  )
  t.end()
})

void t.test('each package with access to the outside is imported only in its own place', (t) => {
  for (const [name, places] of outsiders) {
    const users = imports.filter(
      ({ target, isOwn }) => !isOwn && (target === name || target.startsWith(`${name}/`)),
    )
    const strangers = users.filter(({ file }) => !places.some((place) => file.startsWith(place)))
    t.same(strangers, [], name)
    t.ok(users.length > 0, `${name} does real work`)
  }
  t.end()
})

void t.test('only the main files read the environment and the arguments', (t) => {
  const readers = files.filter((file) => /process\.(env|argv)\b/.test(read(file)))
  t.same(readers.toSorted(), ['src/cli/main.ts', 'src/main.ts'])
  t.end()
})

void t.test('the page imports only its own libraries, and nothing of Node', (t) => {
  const libraries = /^(preact|@preact\/signals|wouter-preact|uplot|@codemirror|@lezer)(\/|$)/
  const strangers = imports.filter(
    ({ file, target, isOwn }) => file.startsWith('src/page/') && !isOwn && !libraries.test(target),
  )
  t.same(strangers, [])
  t.end()
})

void t.test('the client starts with one library; verbs load the others that they use', (t) => {
  const loaded = new Set<string>(['src/cli/main.ts'])
  for (const from of loaded)
    for (const { file, target, isTypeOnly, isLater } of imports)
      if (file === from && !isTypeOnly && !isLater) loaded.add(target)
  const libraries = [...loaded].filter((name) => !/^(src\/|node:)/.test(name))
  t.same(libraries, ['commander'])
  t.end()
})

void t.test(
  'tests find files from the checkout, not beside themselves, because they run below dist/',
  (t) => {
    const strangers = listSources(join(root, 'test'))
      .filter((file) => !file.startsWith('test/bench/') && file !== 'test/support/root.ts')
      .filter((file) => /import\.meta|import[=]tsx/.test(read(file)))
    t.same(strangers, [])
    t.end()
  },
)

void t.test('properties are not grouped by spreads of object literals', (t) => {
  const grouped = files.filter((file) => /\.\.\.\(?\{ /.test(read(file)))
  t.same(grouped, [])
  t.end()
})

void t.test('no import cycle exists', (t) => {
  const graph = new Map<string, string[]>()
  for (const { file, target, isOwn, isTypeOnly } of imports)
    if (isOwn && !isTypeOnly) graph.set(file, [...(graph.get(file) ?? []), target])
  t.same(findCycle(graph), [])
  t.end()
})

void t.test('no two folders import each other, directly or through others', (t) => {
  const graph = new Map<string, string[]>()
  for (const { file, target, isOwn } of imports) {
    const [from, to] = [toFolder(file), toFolder(target)]
    if (isOwn && from !== to && isPart(from) && isPart(to))
      graph.set(from, [...(graph.get(from) ?? []), to])
  }
  t.same(findCycle(graph), [])
  t.ok(graph.size > 15, 'the folders were found')
  t.end()
})

void t.test('the version of the program is that of its package', (t) => {
  t.equal((JSON.parse(read('package.json')) as { version: string }).version, version)
  t.end()
})

void t.test(
  'no package runs a script at its installation, and the lock file holds no download addresses',
  (t) => {
    const text = read('package-lock.json')
    t.notMatch(text, /"resolved": "http/)
    const { packages } = JSON.parse(text) as {
      readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>
    }
    const withScript = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript)
    // The first is compiled by name; the second works without its script. Any further one needs a review.
    t.same(withScript, ['node_modules/better-sqlite3', 'node_modules/esbuild'])
    t.match(read('.npmrc'), /^ignore-scripts=true$/m)
    t.match(read('scripts/prepare.mjs'), "run('npm', ['ci', '--ignore-scripts'")
    t.end()
  },
)

/** A capability is a folder of the coordinator, together with its subfolders. */
function toFolder(file: string): string {
  const [top = '', second = '', third = ''] = file.split('/')
  return second === 'coordinator' ? `${top}/${second}/${third}` : `${top}/${second}`
}

/** Files outside of these folders wire them, or are the base of all. */
function isPart(folder: string): boolean {
  return folder.startsWith('src/') && !folder.endsWith('.ts')
}

function listCapabilities(): string[] {
  const wiring = ['gateway', 'controller', 'console']
  return readdirSync(join(root, 'src/coordinator'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !wiring.includes(entry.name))
    .map(({ name }) => `src/coordinator/${name}/`)
}

/** The files of one cycle, or none. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const path: string[] = []
  for (const file of graph.keys()) {
    const cycle = visit(file)
    if (cycle) return cycle
  }
  return []

  function visit(file: string): string[] | undefined {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    path.push(file)
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next)
      if (cycle) return cycle
    }
    path.pop()
    done.add(file)
    return undefined
  }
}
