/**
 * The same scenario on any release: a probed backend, a label, a routing VCL, a ban, a parameter, and then every
 * reading command in both forms. The replies are compared with `test/fixtures/releases/<release>/answers.txt`.
 */
import { encodeReply } from '../../protocol/simulator/reply-text.js'
import type { RawClient } from './simulator/raw-client.js'
import { inline, quoted } from './simulator/script-steps.js'

export interface Answer {
  readonly status: number
  /** Times, dates and pids are normalized; descriptions and all bans but the newest are left out. */
  readonly body: string
}

/** Without `backend … none`, which 6.0.0 to 6.0.5 and 6.1 to 6.3 lack. */
const shop = `vcl 4.0;
backend default { .host = "127.0.0.1"; .port = "9"; }
backend probed { .host = "127.0.0.1"; .port = "9"; .probe = { .interval = 3600s; .initial = 0; .window = 8; .threshold = 3; } }
sub vcl_recv { if (req.url == "/p") { set req.backend_hint = probed; } }`

const route = `vcl 4.0;
backend default { .host = "127.0.0.1"; .port = "9"; }
sub vcl_recv { return (vcl(l-shop)); }`

const preparation = [
  inline('shop-1', shop),
  'vcl.use shop-1',
  'backend.set_health default sick',
  'ban req.url ~ "^/a\\\\.b"',
  'param.set default_ttl 10',
  'param.set feature +http2',
]

/** Before any label exists: from 7.6 on they would kill the child. */
const beforeLabels = ['backend.list', 'backend.list -j', 'ban.list', 'ban.list -j']

const labelling = ['vcl.label l-shop shop-1', inline('root-1', route), 'vcl.use root-1']

const afterLabels = [
  ...['vcl.list', 'vcl.list -j', 'vcl.deps -j', 'vcl.discard shop-1', 'vcl.discard nope'],
  ...['param.show default_ttl', 'param.show -j default_ttl', 'param.show feature'],
  ...['param.show cli_limit', 'param.reset default_ttl', 'status', 'status -j', 'ping -j'],
  ...['pid', 'pid -j', 'panic.show', 'storage.list', 'storage.list -j', 'help', 'help -j'],
  `vcl.inline a ${quoted('vcl 4.0; backend a none;')}`,
]

/** Plays the scenario over an authenticated connection; returns the replies by command. */
export async function playScenario(client: RawClient): Promise<Map<string, Answer>> {
  for (const line of preparation) await mustDo(client, line)
  const answers = new Map<string, Answer>()
  for (const line of beforeLabels) answers.set(line, await ask(client, line))
  for (const line of labelling) await mustDo(client, line)
  for (const line of afterLabels) answers.set(line, await ask(client, line))
  return answers
}

/** `>>> command`, then the reply as on the wire: header, body, line feed. */
export function writeTranscript(answers: ReadonlyMap<string, Answer>): string {
  const parts = [...answers].map(([line, { status, body }]) => {
    return `>>> ${line}\n${encodeReply(status, body).toString('latin1')}`
  })
  return parts.join('')
}

export function readTranscript(text: string): Map<string, Answer> {
  const answers = new Map<string, Answer>()
  for (let at = 0; at < text.length;) {
    const [head = '', line, status, length] =
      />>> (.*)\n(\d{3}) (\d+) *\n/y.exec(text.slice(at)) ?? []
    if (line === undefined) throw new Error(`no answer begins at ${text.slice(at, at + 40)}`)
    const start = at + head.length
    const end = start + Number(length)
    answers.set(line, { status: Number(status), body: text.slice(start, end) })
    at = end + 1
  }
  return answers
}

async function mustDo(client: RawClient, line: string): Promise<void> {
  const { status, body } = await ask(client, line)
  if (status !== 200) throw new Error(`${line.slice(0, 80)}: ${status} ${body}`)
}

async function ask(client: RawClient, line: string): Promise<Answer> {
  const reply = await client.ask(line)
  if (reply === 'closed') throw new Error(`${line}: the cache closed the connection`)
  return { status: reply.status, body: normalise(line, reply.body) }
}

/** 20 Nov 2026 08:27:22 GMT. */
const time = '1795163242.104'

function normalise(line: string, body: string): string {
  const plain = body
    .replace(/\b\d{10}\.\d{6}/g, `${time}000`)
    .replace(/\b\d{10}\.\d{3}\b/g, time)
    .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'Fri, 20 Nov 2026 08:27:22 GMT')
    .replace(/(Master:) +\d+/g, '$1      28134')
    .replace(/(Worker:) +\d+/g, '$1      28172')
    .replace(/"master": \d+, "worker": \d+/g, '"master": 28134, "worker": 28172')
  // The lurker drops unreferenced bans at any time, but never the newest.
  if (line === 'ban.list') return plain.split('\n', 2).join('\n') + '\n'
  if (line === 'ban.list -j') return plain.replace(/\n\s*\}[^]*/, '\n}\n]\n')
  if (line.startsWith('help -j')) return plain.replace(/"help": .*,\n/g, '')
  if (!line.startsWith('param.show')) return plain
  return line.includes(' -j')
    ? plain.replace(/"description": ".*",\n/g, '')
    : plain.replace(/\n\n[^]*/, '\n')
}
