/** `cachefleet stats`: a table with sparklines, CSV and JSON, and times as people write them. */
import t from 'tap'
import { drawSparkline, findAxis } from '../../src/cli/stats-sparkline.js'
import { formatValue } from '../../src/cli/stats.js'
import { enrol, startClient } from '../coordinator/controller/client.js'
import { addDeployment, addPlacement } from '../coordinator/store/rows.js'
import { call } from './run-cli.js'

const names = ['MAIN.client_req', 'MAIN.cache_hit']

void t.test('counters of a cache are printed as a table, CSV and JSON', async (t) => {
  const client = await startClient(t)
  const agentId = await enrol(client, 'edge-1')
  const begin = (Math.floor(Date.now() / 60_000) - 5) * 60_000
  for (let step = 1; step <= 6; step++)
    client.service.statistics.record({
      agentId,
      at: begin + step * 10_000,
      spanMs: null,
      names,
      values: [1000 * step, 2.5],
    })
  const environment = { CACHEFLEET_SERVER: client.base, CACHEFLEET_TOKEN: client.token }
  const stats = (...words: string[]) =>
    call(['stats', 'agents', 'edge-1', ...words], { environment })

  const table = await stats('client_req', 'cache_hit', 'n_lru_nuked', '--from', '10m')
  t.equal(table.code, 0, table.err)
  const [title = '', ...lines] = table.out.trimEnd().split('\n')
  t.match(title, /^COUNTER +NEWEST +LEAST +MEAN +MOST +COURSE$/)
  t.match(lines[0], /^client_req +6\.00k +1\.00k +3\.50k +6\.00k +▁?[▁▂▃▄▅▆▇█]{5,6}$/)
  t.match(lines[1], /^cache_hit +2\.50 +2\.50 +2\.50 +2\.50 +▁{6}$/)
  t.match(lines[2], /^n_lru_nuked +\(nothing known\)$/)

  const usual = await stats('--from', '10m', '--function', 'total')
  t.match(usual.out, /MAIN\.client_req +60\.0k/)
  const shown = await call(['stats', 'agents', 'edge-1', 'client_req'], {
    environment,
    terminal: true,
  })
  t.match(
    shown.err,
    /^[-\d]{10} [:\d]{8} to (?:[-\d]{10} )?[:\d]{8} UTC, rows of 10 s, counters per second\n$/,
  )
  const csv = await stats('client_req', '--from', String(begin / 1000), '--to', 'now', '--csv')
  t.equal(csv.out.split('\r\n')[1], `client_req,${begin / 1000 + 10},1000`)
  const json = await stats('client_req', '--from', '1h', '--json')
  t.equal((JSON.parse(json.out) as { stats: unknown[] }).stats.length, 1)

  const singular = await call(['stats', 'agent', 'edge-1', 'client_req'], { environment })
  t.match(singular, { code: 0, out: /^client_req +6\.00k/m })

  const wrong = await stats('client_req', '--from', 'yesterday')
  t.equal(wrong.code, 2)
  t.match(wrong.err, /--from "yesterday" is not a time; expected 30m/)
  const unknown = await stats('nothing')
  t.equal(unknown.code, 1)
  t.match(unknown.err, /counter nothing was not found/)
  const listed = await call(['stats', 'counters', '--csv'], { environment })
  t.match(listed.out, /^name,kind,description\r\n/)
})

void t.test('figures of a domain are found by its name, in any spelling', async (t) => {
  const client = await startClient(t)
  const agentId = await enrol(client, 'edge-1')
  const domain = await client.expect(201, 'POST', '/domains', { fqdn: 'www.example.com' })
  const source = 'vcl 4.1; backend default none;'
  const mainVCL = await client.expect(201, 'POST', '/files', { name: 'a.vcl', source })
  const body = { name: 'site', mainVCL: { id: mainVCL['id'] }, domains: [{ id: domain['id'] }] }
  const { id } = await client.expect(201, 'POST', '/vclgroups', body)
  const { queries } = client.service.store
  await addPlacement(queries, Number(id), agentId, await addDeployment(queries, 'web'))
  const begin = (Math.floor(Date.now() / 60_000) - 5) * 60_000
  const subject = `DOMAIN.${String(id)}:www.example.com`
  client.service.statistics.record({
    agentId,
    at: begin + 10_000,
    spanMs: 10_000,
    names: [`${subject}.requests`, `${subject}.status_5xx`],
    values: [40, 2],
  })
  const environment = { CACHEFLEET_SERVER: client.base, CACHEFLEET_TOKEN: client.token }
  const shown = await call(
    ['stats', 'domains', 'WWW.Example.com', 'requests', 'status_5xx', 'hits', '--from', '10m'],
    { environment },
  )
  t.equal(shown.code, 0, shown.err)
  const lines = shown.out.trimEnd().split('\n').slice(1)
  t.match(lines, [/^requests +40 /, /^status_5xx +2 /, /^hits +0 /])
})

void t.test('numbers are printed with three digits', (t) => {
  const shown = [0, 7, 0.25, 9.996, 12.34, 99.96, 123.4, 999.4, 999.6, 1234, 56_789, 3.2e9].map(
    formatValue,
  )
  t.same(shown, [
    '0',
    '7',
    '0.25',
    '10.0',
    '12.3',
    '100',
    '123',
    '999',
    '1.00k',
    '1.23k',
    '56.8k',
    '3.20G',
  ])
  t.end()
})

void t.test('a sparkline shows gaps as blanks, and stays within its width', (t) => {
  const points = [0, 10, 20, 60].map((time, at) => ({ time, value: at * 10 }))
  t.match(drawSparkline(points, findAxis([points], 7)), /^▁[▁-█] █$/)
  const many = Array.from({ length: 600 }, (_, time) => ({ time, value: time }))
  const line = drawSparkline(many, findAxis([many], 30))
  t.match(line, /^▁[▁-█]{28}█$/)
  t.equal(drawSparkline([], findAxis([many, []], 30)), '')
  t.end()
})

void t.test('sparklines of several counters are aligned in time', (t) => {
  const all = Array.from({ length: 10 }, (_, at) => ({ time: at * 10, value: 1 }))
  const late = all.slice(8)
  const axis = findAxis([all, late, []], 30)
  t.equal(drawSparkline(all, axis), '▁'.repeat(10))
  t.equal(drawSparkline(late, axis), `${' '.repeat(8)}▁▁`)
  t.end()
})
