/**
 * The packages without installing them: their contents, and that these run where they are unpacked. Installing,
 * upgrading and removing are tested on a separate Debian (`npm run test:packages`).
 */
import { mkdir, readFile, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { version } from '../../src/version.js'
import { answering } from '../support/observe-cache.js'
import { deploySite, makeSite, untilAgent, untilServing } from '../end-to-end/harness.js'
import { makeStateDir, startAgent, startCoordinator, type StartedBy } from '../support/daemon.js'
import { root } from '../support/root.js'
import { startVarnishd } from '../support/varnishd.js'
import { buildPackages, execute, listPackages, makeFolder } from './build-packages.js'

const home = 'usr/lib/cachefleet'
const examples = 'usr/share/doc/cachefleet-agent/examples'
/** Contents besides documentation: complete, except for `common`, whose programs and guides have names of the build. */
const contents: Readonly<Record<string, readonly string[]>> = {
  cachefleet: [
    'usr/bin/cachefleet',
    'usr/share/bash-completion/completions/cachefleet',
    'usr/share/fish/vendor_completions.d/cachefleet.fish',
    'usr/share/man/man1/cachefleet.1.gz',
    'usr/share/zsh/vendor-completions/_cachefleet',
  ],
  'cachefleet-agent': [
    'etc/cachefleet/agent.yaml',
    'usr/lib/systemd/system/cachefleet-agent.service',
    'usr/lib/systemd/system/cachefleet-agent@.service',
    'usr/lib/sysusers.d/cachefleet-agent.conf',
    'usr/lib/tmpfiles.d/cachefleet-agent.conf',
  ],
  'cachefleet-coordinator': [
    'etc/cachefleet/coordinator.yaml',
    'usr/lib/systemd/system/cachefleet-coordinator.service',
    'usr/lib/sysusers.d/cachefleet-coordinator.conf',
  ],
}
const scripts = ['postinst', 'postrm', 'prerm']

const folder = await buildPackages(t)
const files = await listPackages(folder)
const tree = await makeFolder(t)
for (const file of Object.values(files)) await execute('dpkg-deb', ['-x', file, tree])

void t.test('two builds are identical byte for byte', async (t) => {
  const again = await buildPackages(t)
  const names = (await readdir(again)).toSorted()
  t.same((await readdir(folder)).toSorted(), names)
  t.same(Object.keys(files).toSorted(), [
    ...['cachefleet', 'cachefleet-agent', 'cachefleet-common', 'cachefleet-coordinator'],
  ])
  t.equal(names.length, 5, 'and one for npm')
  for (const name of names) {
    const [one, two] = await Promise.all([folder, again].map((path) => readFile(join(path, name))))
    t.ok(two && one?.equals(two), name)
  }
})

void t.test('each package declares its version, dependencies and description', async (t) => {
  const common = `cachefleet-common (= ${version})`
  const needs: Readonly<Record<string, RegExp | string>> = {
    cachefleet: common,
    'cachefleet-agent': `${common}, systemd`,
    'cachefleet-coordinator': `${common}, systemd`,
    'cachefleet-common': /^libc6 \(>= 2\.\d+\), libgcc-s1, libstdc\+\+6$/,
  }
  for (const [name, file] of Object.entries(files)) {
    const read = async (field: string) => (await execute('dpkg-deb', ['-f', file, field])).trim()
    t.equal(await read('Package'), name)
    t.equal(await read('Version'), version, name)
    t.match(await read('Architecture'), name === 'cachefleet-common' ? /^a\w+64$/ : /^all$/, name)
    t.match(await read('Depends'), needs[name], name)
    const size = Number(await read('Installed-Size')) << 10
    t.ok(size > 10_000 && size < 200 << 20, `${name}: ${size} bytes installed`)
    t.match(await read('Description'), /^\S.+\n \S/, name)
  }
})

void t.test('root owns everything, and only programs are executable', async (t) => {
  for (const [name, file] of Object.entries(files)) {
    const lines = (await execute('dpkg-deb', ['-c', file])).trim().split('\n')
    const wrong = lines.filter((line) => {
      const [mode = '', owner, , , , path = ''] = line.split(/ +/)
      const isProgram = /\/bin\/node$|\/cachefleetd?\.js$/.test(path)
      const right = isProgram ? /^-rwxr-xr-x$/ : /^(?:drwxr-xr-x|-rw-r--r--|lrwxrwxrwx)$/
      return owner !== 'root/root' || !right.test(mode)
    })
    t.same(wrong, [], name)
  }
})

void t.test('agent, coordinator and CLI packages contain exactly their files', async (t) => {
  for (const [name, wanted] of Object.entries(contents)) {
    const inside = await makeFolder(t)
    await execute('dpkg-deb', ['-x', files[name] ?? '', inside])
    const documentation = join(inside, 'usr/share/doc', name)
    const found = (await readdir(documentation)).filter((file) => file !== 'examples')
    t.same(found.toSorted(), ['NEWS.gz', 'changelog.gz', 'copyright'], name)
    await rm(documentation, { recursive: true })
    t.same(await listFiles(inside), wanted, name)
  }
  t.same(
    await listFiles(join(tree, examples)),
    (await listFiles(join(root, 'systemd'))).filter((file) => file.includes('.d/')),
    'the drop-ins are examples',
  )
})

void t.test('settings are kept on upgrades, and services have maintainer scripts', async (t) => {
  for (const [name, file] of Object.entries(files)) {
    const inside = await makeFolder(t)
    await execute('dpkg-deb', ['-e', file, inside])
    const found = await readdir(inside)
    const settings = contents[name]?.filter((path) => path.startsWith('etc/')) ?? []
    t.same(
      found.toSorted(),
      [
        ...['control', 'md5sums'],
        ...(settings.length > 0 ? ['conffiles', ...scripts] : []),
      ].toSorted(),
      name,
    )
    if (settings.length === 0) continue
    const kept = await readFile(join(inside, 'conffiles'), 'utf8')
    t.equal(kept, settings.map((path) => `/${path}\n`).join(''), name)
    for (const script of scripts) await execute('sh', ['-n', join(inside, script)])
  }
})

void t.test('links and shebang lines refer to files of the packages', async (t) => {
  for (const name of ['cachefleetd', 'cachefleet']) {
    const target = await readlink(join(tree, 'usr/bin', name))
    t.equal(join('usr/bin', target), `${home}/dist/bin/${name}.js`)
    const text = await readFile(join(tree, 'usr/bin', name), 'utf8')
    t.match(text, new RegExp(`^#!/${home}/bin/node\n`))
  }
  for (const unit of contents['cachefleet-agent']?.filter((path) => /service$/.test(path)) ?? [])
    t.match(await readFile(join(tree, unit), 'utf8'), /^ExecStart=\/usr\/bin\/cachefleetd /m)
})

const startedBy = (name: string): StartedBy => [
  join(tree, home, 'bin/node'),
  join(tree, home, `dist/bin/${name}.js`),
]

void t.test('the CLI prints its version, and completes words', async (t) => {
  const [node, client] = startedBy('cachefleet')
  const call = (...words: string[]) => execute(node, [client, ...words])
  t.equal(await call('--version'), `${version}\n`)
  t.match(await call('--help'), /^Usage: cachefleet /)
  for (const [shell, path] of [
    ['bash', contents['cachefleet']?.[1]],
    ['fish', contents['cachefleet']?.[2]],
    ['zsh', contents['cachefleet']?.[4]],
  ] as const)
    t.equal(
      await readFile(join(tree, path ?? ''), 'utf8'),
      await call('completion', shell),
      `completion for ${shell} is what the client prints`,
    )
})

void t.test('the manual pages match the output of --help', async (t) => {
  for (const [name, section] of [
    ['cachefleetd', 8],
    ['cachefleet', 1],
  ] as const) {
    const [node, program] = startedBy(name)
    const help = await execute(node, [program, '--help'])
    const file = join(tree, `usr/share/man/man${section}/${name}.${section}.gz`)
    const page = gunzipSync(await readFile(file))
      .toString('latin1')
      .replaceAll('\\-', '-')
    t.match(
      page,
      new RegExp(`^\\.TH ${name.toUpperCase()} ${section} .* "cachefleet ${version}"\n`),
    )
    const terms = [...help.matchAll(/^ {2}(--\S+)/gm)].map(([, term = '']) => term)
    const missing = terms.filter((term) => !page.includes(`\n.TP\n.B ${term}`))
    t.ok(terms.length > 5, `${name}: ${terms.length} flags`)
    t.same(missing, [], name)
    t.notMatch(page, /[^\n -~]/, 'other characters than ASCII are escaped')
  }
})

void t.test('coordinator and agent run unpacked, and deploy to a cache', async (t) => {
  const by = startedBy('cachefleetd')
  t.match(await execute(by[0], [by[1], '--version']), version)
  const cache = await startVarnishd(t, { vcl: answering('before') })
  const { api, base, port } = await startCoordinator(t, { by })
  await checkServed(t, base)
  startAgent(t, cache, {
    coordinatorUrl: `ws://127.0.0.1:${port}`,
    name: 'edge',
    tags: ['web'],
    by,
    stateDir: await makeStateDir(t),
    joinToken: await api.makeJoinToken(),
  })
  await untilAgent({ api }, 'Running')
  await deploySite({ api }, await makeSite({ api }, 'packed'))
  await untilServing(cache, 'packed-first')
})

void t.test('the npm package runs with its declared dependencies', async (t) => {
  const inside = await makeFolder(t)
  await execute('tar', ['-xf', join(folder, `cachefleet-${version}.tgz`), '-C', inside])
  const home = join(inside, 'package')
  const written: unknown = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'))
  const { dependencies, optionalDependencies, bin } = written as Readonly<
    Record<'dependencies' | 'optionalDependencies' | 'bin', Readonly<Record<string, string>>>
  >
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const link = join(home, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(root, 'node_modules', name), link)
  }
  for (const name of ['cachefleet', 'cachefleetd'])
    t.match(await execute(process.execPath, [join(home, bin[name] ?? ''), '--version']), version)
  const by: StartedBy = [process.execPath, join(home, bin['cachefleetd'] ?? '')]
  const { base } = await startCoordinator(t, { by })
  await checkServed(t, base)
})

/** Page, guides and the API document are files of the package. */
async function checkServed(t: Test, base: string): Promise<void> {
  for (const path of ['/', '/docs/swagger-ui.css', '/docs/operating.html', '/docs/openapi.json']) {
    const answer = await fetch(`${base}${path}`)
    t.equal(answer.status, 200, path)
    await answer.text()
  }
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
}
