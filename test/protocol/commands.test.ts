/** Every command against the real cache: its effect, its result, and how it is refused. */

import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import {
  expectOk,
  expectText,
  readJsonAnswer,
  typedLine,
  type Command,
} from '../../protocol/command.js'
import { ban, banList, writeBlanksAsEscapes } from '../../protocol/commands/ban.js'
import { backendList, backendSetHealth } from '../../protocol/commands/backend.js'
import { paramReset, paramSet, paramShow, paramShowAll } from '../../protocol/commands/param.js'
import {
  childStatus,
  help,
  panicClear,
  panicShow,
  ping,
  processIds,
  startChild,
  storageList,
} from '../../protocol/commands/process.js'
import {
  vclDiscard,
  vclInline,
  vclLabel,
  vclList,
  vclShow,
  vclShowParts,
  vclState,
  vclUse,
} from '../../protocol/commands/vcl.js'
import { connectManagementPort } from '../../protocol/connection.js'
import type { ManagementPortError } from '../../protocol/errors.js'
import { chooseReadingCommands } from '../../protocol/reading.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type VarnishdOptions } from '../support/varnishd.js'

/** Uses the text forms, as for a release without any JSON. */
const asText = chooseReadingCommands({ answersJson: () => false })

const emptyVcl = 'vcl 4.1;\nbackend default none;\n'

async function connectTo(t: Test, options: VarnishdOptions = {}) {
  const cache = await startVarnishd(t, options)
  const connection = await connectManagementPort({
    host: cache.host,
    port: cache.port,
    secret: () => readFile(cache.secretFile),
  })
  t.teardown(() => {
    connection.close()
  })
  const run = <Result>(command: Command<Result>) => connection.run(command)
  const refusalOf = (command: Command<unknown>): Promise<ManagementPortError> =>
    connection.run(command).then(
      (result) => Promise.reject(new Error(`it was not refused: ${JSON.stringify(result)}`)),
      (error: unknown) => error as ManagementPortError, // the assertions check its type
    )
  return { cache, connection, run, refusalOf }
}

void t.test('VCL programs and labels', async (t) => {
  const { cache, run, refusalOf } = await connectTo(t)
  const names = async () => (await run(vclList())).map(({ name }) => name)

  await t.test('are loaded, labelled, used and discarded', async (t) => {
    await run(vclInline('shop-1', emptyVcl))
    await run(vclLabel('l-shop', 'shop-1'))
    await run(vclInline('root', `${emptyVcl}sub vcl_recv { return (vcl(l-shop)); }\n`))
    await run(vclUse('root'))

    const rows = new Map((await run(vclList())).map((row) => [row.name, row]))
    t.match(rows.get('boot'), { status: 'available', label: null, labels: 0 })
    t.match(rows.get('root'), { status: 'active', state: 'auto', temperature: 'warm', labels: 0 })
    t.match(rows.get('shop-1'), { status: 'available', labels: 1, label: null })
    t.match(rows.get('l-shop'), { state: 'label', label: { target: 'shop-1', refs: 1 } })
    t.strictSame(await run(asText.vclList()), await run(vclList()), 'the text form agrees')

    t.match(await refusalOf(vclDiscard(['root'])), { kind: 'rejected', status: 300 })
    await run(vclUse('boot'))
    await run(vclDiscard(['shop-1', 'root', 'l-shop']))
    t.strictSame(await names(), ['boot'])
  })

  await t.test('are loaded from files and with a state', async (t) => {
    const file = join(dirname(cache.secretFile), 'a file.vcl')
    await writeFile(file, emptyVcl)
    t.match(await run(typedLine(`vcl.load from-file "${file}"`)), { status: 200 })
    await run(vclInline('cold', emptyVcl))
    await run(vclState('cold', 'cold'))
    t.match(await refusalOf(vclUse('cold')), { status: 300, text: /is cold/ })
    await run(vclState('cold', 'auto'))
    await run(vclUse('cold'))
    await run(vclUse('boot'))
    await run(vclDiscard(['from-file', 'cold']))
  })

  await t.test('are shown as loaded, optionally with includes and built-in VCL', async (t) => {
    const source = `${emptyVcl}// no line feed at the end`
    await run(vclInline('shown', source))
    t.equal((await run(vclShow('shown'))).toString(), `${source}\n`)
    t.match((await run(vclShow())).toString(), /backend default none/)
    const parts = await run(vclShowParts('shown'))
    t.match(parts, [{ file: '<vcl.inline>' }, { file: '<builtin>' }])
    t.equal(parts[0]?.source.toString(), `${source}\n`)
    t.match(parts[1]?.source.toString(), /sub vcl_builtin_recv/)
    t.match(await refusalOf(vclShow('nope')), { status: 106, text: "No VCL named 'nope'" })
    await run(vclDiscard(['shown']))
  })

  await t.test('that do not compile are refused with the compiler’s full message', async (t) => {
    const error = await refusalOf(vclInline('bad', `${emptyVcl}sub vcl_recv { set req.url = 1 }\n`))
    t.match(error, { kind: 'rejected', status: 106, command: 'vcl.inline', sent: true })
    t.match(error.text, /Expected ';' got '}'[^]*Line 3 Pos[^]*VCL compilation failed/)
    const failing = `${emptyVcl}sub vcl_init { return (fail("because")); }\n`
    t.match(await refusalOf(vclInline('bad', failing)), { status: 300, text: /because/ })
    t.match(await refusalOf(vclInline('boot', emptyVcl)), { status: 106, text: /Already a VCL/ })
    t.match(await refusalOf(vclLabel('boot', 'boot')), { status: 106 })
    t.strictSame(await names(), ['boot'])
  })
})

void t.test('backends are listed, selected and overridden', async (t) => {
  const { run, refusalOf } = await connectTo(t, {
    vcl: `vcl 4.1;
      backend probed { .host = "127.0.0.1"; .port = "9"; .probe = { .initial = 0; .interval = 1h; } }
      backend plain { .host = "127.0.0.1"; .port = "9"; }
      sub vcl_recv { set req.backend_hint = plain; }`,
  })
  t.match(await run(backendList()), [
    { name: 'boot.probed', type: 'backend', adminHealth: 'probe', isHealthy: false, details: null },
    { name: 'boot.plain', adminHealth: 'healthy', isHealthy: true, good: 0, total: 0 },
  ])
  t.match(await run(backendList({ pattern: 'boot.prob*', probes: true })), [
    { name: 'boot.probed', total: 8, details: { threshold: 3, window: 8 } },
  ])
  t.strictSame(await run(backendList({ pattern: 'nope' })), [])
  await run(backendSetHealth('*.plain', 'sick'))
  t.match(await run(backendList({ pattern: 'plain' })), [{ adminHealth: 'sick', isHealthy: false }])
  const plain = ({ name, isHealthy, total }: { name: string; isHealthy: boolean; total: number }) =>
    ({ name, isHealthy, total }) as const
  t.strictSame(
    (await run(asText.backendList({ probes: true }))).map(plain),
    (await run(backendList())).map(plain),
    'the text form agrees',
  )
  t.match(await refusalOf(backendSetHealth('nope', 'sick')), { status: 106, text: /No Backends/ })
})

void t.test('bans are added, listed and refused', async (t) => {
  const { run, refusalOf } = await connectTo(t)
  t.match(await run(banList()), [{ expression: '', isCompleted: true }])
  await run(
    ban([
      { field: 'req.url', operator: '~', value: writeBlanksAsEscapes('^/a b\\.c') },
      { field: 'obj.status', operator: '==', value: '200' },
      { field: 'obj.http.X-A', operator: '!=', value: 'Größe' },
    ]),
  )
  // Of bans that match nothing the cache keeps only the newest.
  const [newest] = await run(banList())
  t.match(newest, {
    expression: 'req.url ~ ^/a\\x20b\\.c && obj.status == 200 && obj.http.X-A != Größe',
    isCompleted: false,
    references: 0,
  })
  t.strictSame((await run(asText.banList()))[0], newest, 'the text form agrees')
  t.match(await refusalOf(ban([{ field: 'obj.age', operator: '>', value: '5' }])), {
    kind: 'rejected',
    status: 106,
    text: /expected duration/,
  })
})

void t.test('parameters are shown, set, reset and refused', async (t) => {
  const { run, refusalOf } = await connectTo(t, {
    args: ['-p', 'cc_command=exec gcc -std=gnu11 -O0 -pthread -fpic -shared -o %o %s'],
  })
  t.match(await run(paramShow('default_ttl')), {
    isImplemented: true,
    value: 120,
    units: 'seconds',
    default: '120.000',
    minimum: '0.000',
    maximum: null,
    flags: ['obj_sticky'],
    description: /TTL/,
  })
  t.equal(await run(paramSet('default_ttl', '600')), '')
  t.equal((await run(paramShow('default_ttl'))).value, 600)
  t.match(await run(asText.paramShow('default_ttl')), {
    value: '600.000',
    units: 'seconds',
    default: '120.000',
    minimum: '0.000',
  })
  await run(paramReset('default_ttl'))
  t.match(await run(paramSet('cc_warnings', '')), /when VCL script is reloaded/)
  t.match(await run(paramShow('pool_req')), { value: { min_pool: 10 }, flags: [] })
  t.match(await run(paramShow('accept_filter')), { isImplemented: false, value: null })
  const all = await run(paramShowAll())
  t.ok(all.length > 80)
  const text = await run(asText.paramShowAll())
  t.strictSame(
    text.map(({ name }) => name),
    all.map(({ name }) => name),
  )
  t.match(await refusalOf(paramSet('default_ttl', '-1')), { status: 106, text: /Must be/ })
  t.match(await refusalOf(paramReset('nope')), { status: 106, text: /Unknown parameter/ })
  t.strictSame(
    readJsonAnswer('[ 2, ["param.show", "-j", "changed"], 1.1,\n]\n', 'param.show').payload,
    [],
    'an empty list of changes is invalid JSON on 7.1',
  )
})

void t.test('processes are listed, stopped, started and panicked', async (t) => {
  const { cache, run, refusalOf } = await connectTo(t)
  const { master, worker } = await run(processIds())
  t.equal(master, cache.pid())
  t.equal(worker, await cache.childPid())
  t.strictSame(await run(asText.processIds()), { master, worker })
  t.ok(Math.abs((await run(ping())) - Date.now() / 1000) < 3600)
  t.match(await run(storageList()), [
    { name: 's0', kind: 'malloc' },
    { name: 'Transient', kind: /^(?:malloc|default)$/ },
  ])
  t.strictSame(await run(asText.storageList()), await run(storageList()))
  t.match(
    (await run(help())).find(({ name }) => name === 'vcl.list'),
    { syntax: 'vcl.list [-j]', hasJson: true },
  )
  const isPlain = ({ name }: { name: string }) =>
    !name.startsWith('debug.') && name !== 'vcl.symtab' && !name.startsWith('tls.')
  // Varnish 9.0 lists the JSON form of its certificate list in one of the two forms only.
  t.strictSame((await run(asText.help())).filter(isPlain), (await run(help())).filter(isPlain))

  t.match(await refusalOf(startChild()), { kind: 'rejected', status: 300, text: /state running/ })
  t.match(await run(typedLine('stop')), { status: 200 })
  t.equal(await run(childStatus()), 'stopped')
  t.equal(await run(asText.childStatus()), 'stopped')
  t.equal((await run(processIds())).worker, null)
  t.match(await run(vclList()), [{ name: 'boot', busy: null }])
  t.match(await refusalOf(banList()), { status: 101, text: /child not running/ })
  await run(startChild())

  t.equal(await run(panicShow()), null)
  t.equal(await run(panicClear()), false)
  await run(typedLine('debug.panic.worker'))
  // The manager has the text only after it noticed the end of the child.
  const panic = await eventually('the panic text is available', () => run(panicShow()))
  t.match(panic, /^(?:Child \(\d+\) )?Panic at: /)
  t.equal(await run(panicClear()), true)
  t.not((await run(processIds())).worker, worker)
  t.match(await run(typedLine('quit')), { status: 500 })
})

void t.test('a reply cut at cli_limit is an error which says that the command ran', async (t) => {
  const { run, refusalOf } = await connectTo(t)
  await run(vclInline('cut', emptyVcl))
  await run(paramSet('cli_limit', '128b'))
  for (const command of [vclList(), help()])
    t.match(await refusalOf(command), { kind: 'rejected', status: 201, message: /did run/ })
  t.match(await refusalOf(asText.help()), { status: 201 })
  await run(paramReset('cli_limit'))
  t.equal((await run(vclList())).length, 2)
})

void t.test('malformed replies are garbled', (t) => {
  const garbled = { name: 'ManagementPortError', kind: 'garbled' }
  const parse = (command: Command<unknown>, body: string) => () =>
    command.parse({ status: 200, body: Buffer.from(body) }, command.name)
  const json = (payload: string) => `[ 2, ["x", "-j"], 1.5, ${payload} ]`
  t.throws(parse(vclList(), ''), { ...garbled, message: /the child process gave none/ })
  t.throws(parse(vclList(), '{}'), garbled)
  t.throws(parse(vclList(), '[ 2, ["vcl.list"'), garbled)
  t.throws(parse(vclList(), json('"a"')), garbled)
  t.throws(parse(vclList(), json('{"name": 1}')), garbled)
  t.throws(parse(vclList(), json('{"name": "a", "status": "asleep"}')), garbled)
  t.throws(parse(vclShowParts(), 'vcl 4.1;'), garbled)
  t.throws(parse(vclShowParts(), '// VCL.SHOW 0 99 a\nshort\n'), garbled)
  t.throws(parse(backendList(), json('{"a": {}}')), garbled)
  t.throws(parse(paramShow('a'), json('')), garbled)
  t.throws(parse(ping(), 'PANG'), garbled)
  t.throws(parse(childStatus(), json('"asleep"')), garbled)
  t.throws(parse(processIds(), json('{}')), garbled)
  t.throws(() => {
    expectOk({ status: 300, body: Buffer.alloc(0) }, 'start')
  }, /start: the cache answered 300 without words/)
  t.throws(
    () => expectText({ status: 200, body: Buffer.alloc((4 << 20) + 1) }, 'x'),
    { name: 'ManagementPortError', kind: 'rejected', status: 201 },
    'longer than any reply that is read',
  )
  t.equal(expectText({ status: 200, body: Buffer.from([0xff]) }, 'x'), '\ufffd')
  t.end()
})
