/** `cachefleet stats --watch`: continues after a coordinator outage, and ends with Ctrl-C. */
import t from 'tap'
import { enrol, startClient } from '../coordinator/controller/client.js'
import { eventually } from '../support/eventually.js'
import { startLinkProxy } from '../support/link-proxy.js'
import {
  endOf,
  expectOneLine,
  makeHome,
  run,
  startClient as startProgram,
  type Environment,
} from './run-cli.js'

const stepMs = 10_000

function watch(environment: Environment, ...words: string[]) {
  const child = startProgram(
    ['stats', 'agents', 'edge', 'client_req', ...words, '--watch'],
    environment,
  )
  const printed = { out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (printed.err += text))
  return {
    printed,
    interrupt: () => {
      child.kill('SIGINT')
      return endOf(child)
    },
  }
}

void t.test('each new point is printed once, also after a coordinator outage', async (t) => {
  const client = await startClient(t)
  const agentId = await enrol(client, 'edge')
  const begin = (Math.floor(Date.now() / stepMs) - 6) * stepMs
  const record = (step: number): void => {
    const sample = { agentId, at: begin + step * stepMs, spanMs: null }
    client.service.statistics.record({ ...sample, names: ['MAIN.client_req'], values: [step] })
  }
  const line = (step: number): string => `client_req,${begin / 1000 + step * 10},${step}\r\n`
  record(1)
  record(2)
  const proxy = await startLinkProxy(t, Number(new URL(client.base).port))
  const environment = {
    ...(await makeHome(t)),
    CACHEFLEET_SERVER: proxy.url.replace('ws', 'http'),
    CACHEFLEET_TOKEN: client.token,
  }
  const csv = watch(environment, '--csv')
  const json = watch(environment, '--json')
  const table = watch(environment)

  const header = 'counter,time,value\r\n'
  await eventually('all known points', () => csv.printed.out === header + line(1) + line(2))
  await eventually('two answers', () => json.printed.out.split('\n').length > 2)
  await eventually('two tables', () => table.printed.out.split('COUNTER').length > 2)
  proxy.setFault('refuse')
  for (const { printed } of [csv, json, table])
    await eventually('it reports the outage', () => printed.err.endsWith('; trying again\n'))
  record(3)
  proxy.setFault('none')
  await eventually('the new point', () => csv.printed.out === header + line(1) + line(2) + line(3))
  for (const { printed } of [csv, json, table])
    t.match(printed.err, /^cachefleet: .*; trying again\n$/)

  t.same(await Promise.all([csv, json, table].map(({ interrupt }) => interrupt())), [130, 130, 130])
  for (const text of json.printed.out.trimEnd().split('\n'))
    t.match(JSON.parse(text), { stats: [{ counter: 'client_req' }] })
  t.notMatch(table.printed.out, '\x1b', 'only terminals are cleared')
})

void t.test('a refusal of the coordinator ends the watch', async (t) => {
  const client = await startClient(t)
  await enrol(client, 'edge')
  const environment = {
    ...(await makeHome(t)),
    CACHEFLEET_SERVER: client.base,
    CACHEFLEET_TOKEN: client.token,
  }
  const words = ['stats', 'agents', 'edge', '--function', 'MEDIAN', '--watch']
  const ran = await run(words, { environment })
  t.equal(ran.code, 1)
  expectOneLine(t, ran, 'MEDIAN')
  t.match(ran.err, /"MEDIAN" is not a consolidation function/)
})
