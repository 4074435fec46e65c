/** The files for Ansible and containers use existing settings, with valid values. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { describeSettings, loadConfig } from '../config/load.js'
import { root } from './support/root.js'

const folders = ['config/ansible', 'config/container']
const files = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(join(root, path)).isFile() && !path.endsWith('.deb')),
)
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

void t.test('each variable that they set is a setting', (t) => {
  const known = new Set(describeSettings({}).match(/CACHEFLEET_[A-Z0-9_]+/g))
  const named = files.flatMap((path) =>
    [...read(path).matchAll(/\b(CACHEFLEET_[A-Z0-9_]+)(?==|:)/g)].map(([, name = '']) => name),
  )
  t.ok(named.length > 12)
  t.same(
    [...new Set(named)].filter((name) => !known.has(name)),
    [],
  )
  t.end()
})

void t.test('the YAML files are valid', (t) => {
  for (const path of files.filter((name) => /\.ya?ml$/.test(name)))
    for (const { errors } of parseAllDocuments(read(path))) t.same(errors, [], path)
  t.end()
})

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly environment?: Readonly<Record<string, string>> }>
  >
}

void t.test('the coordinators of the compose file could start with their settings', (t) => {
  const { services } = parse(read('config/container/compose.yaml'), { merge: true }) as Compose // its form is fixed
  const image = Object.fromEntries(
    [...read('config/container/Containerfile').matchAll(/(CACHEFLEET_\w+)=(\S+)/g)].map(
      ([, name = '', value = '']): [string, string] => [name, value],
    ),
  )
  for (const name of ['coordinator-1', 'coordinator-2']) {
    const set = Object.entries(services[name]?.environment ?? {})
    const given = set.map(([key, value]): [string, string] => [
      key,
      // Compose inserts the value from .env, or the default after `:-`.
      value.replaceAll(
        /\$\{\w+:(?:\?[^}]*|-([^}]*))\}/g,
        (_, initial?: string) => initial ?? 'given',
      ),
    ])
    const environment = { ...image, ...Object.fromEntries(given) }
    const loaded = loadConfig(['--coordinator', '--no-agent'], environment)
    t.match(loaded, {
      kind: 'run',
      settings: {
        coordinator: true,
        listen: { host: '0.0.0.0', port: 8002 },
        store: /^postgres:/,
        bus: 'nats://nats:4222',
        tlsNames: ['localhost'],
        secretKeyFile: '/var/lib/cachefleet-keys/secret.key',
      },
    })
  }
  t.end()
})
