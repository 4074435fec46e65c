/** An agent beside a simulated cache of any release, with its queries and desired states. */
import type { Test } from 'tap'
import { openManagementConnection } from '../../protocol/connection.js'
import type { SimulatedEngine } from '../../protocol/simulator/simulated-engine.js'
import { createSimulatedEngine, type EngineOptions } from '../support/simulated-engine.js'
import type { DesiredEngine, DesiredProgram } from '../../src/vcl/desired-engine.js'
import { makeRoutingVcl } from '../../src/vcl/routing.js'
import { eventually } from '../support/eventually.js'
import { startCoordinatorEnd, type CoordinatorEnd } from './coordinator-end.js'
import { runTestAgent, type TestAgent } from './run-agent.js'

export const secret = Buffer.from('secret\n')

/** Valid in all releases. */
export const vcl = (mark: string) =>
  `vcl 4.0;
backend default { .host = "127.0.0.1"; .port = "9"; }
backend probed { .host = "127.0.0.1"; .port = "9"; .probe = { .interval = 1s; } }
sub vcl_recv { if (req.url == "/p") { set req.backend_hint = probed; } set req.http.X-Mark = "${mark}"; }
`

export interface Harness {
  readonly t: Test
  readonly release: string
  readonly engine: SimulatedEngine
  readonly agent: TestAgent
  readonly coordinator: CoordinatorEnd
  /** Runs a command on the cache as somebody else would. */
  readonly meddle: (line: Parameters<Connection['run']>[0]) => Promise<unknown>
  revision: number
}

type Connection = Awaited<ReturnType<typeof openManagementConnection>>

export async function start(
  t: Test,
  release: string,
  more: Pick<EngineOptions, 'keepsDiscarded'> = {},
): Promise<Harness> {
  const coordinator = await startCoordinatorEnd(t)
  const engine = createSimulatedEngine({
    version: release,
    secret,
    bootVcl: vcl('foreign'),
    journalLines: 5000,
    ...more,
  })
  t.teardown(() => {
    engine.close()
  })
  const connect = () => engine.connect()
  const port = { mode: 'simulated', connect, secret } as const
  // Where probes cannot be queried, the agent waits for all of this time.
  const agent = await runTestAgent(t, coordinator, port, { warmupMs: 500 })
  const hello = await coordinator.hello()
  t.match(hello, { engine: { version: release }, condition: { engineState: 'running' } })
  const meddle: Harness['meddle'] = async (command) => {
    const connection = await openManagementConnection(connect(), {
      secret: () => Promise.resolve(secret),
    })
    await connection.run(command)
    connection.close()
  }
  return { t, release, engine, agent, coordinator, meddle, revision: 0 }
}

export async function apply(harness: Harness, desired: DesiredEngine) {
  harness.revision += 1
  return harness.coordinator.apply(harness.revision, desired)
}

export const program = ({ coordinator }: Harness, group: number, mark: string): DesiredProgram => ({
  name: `cf-${group}-aaaaaaaa-${mark}`,
  sha: coordinator.publish(vcl(`${group} ${mark}`)),
})

export async function ask(
  harness: Harness,
  query: 'vcls' | 'params' | 'backends' | 'bans' | 'panic',
) {
  const answer = await harness.coordinator.ask({ kind: 'query', query })
  harness.t.equal(answer.result, 'done', `${query}: ${answer.error ?? ''}`)
  return answer.value
}

export async function readParam(harness: Harness, name: string): Promise<string> {
  const params = (await ask(harness, 'params')) as Record<string, { value: string }> // the shape of a query
  return params[name]?.value ?? 'none of that name'
}

/** Names, labels with their targets, sorted; `*` marks the active one. */
export async function listVcls(harness: Harness): Promise<string[]> {
  const rows = (await ask(harness, 'vcls')) as {
    name: string
    label: string | null
    status: string
  }[] // the shape of a query
  return rows
    .map(({ name, label, status }) => {
      return `${status === 'active' ? '*' : ''}${name}${label === null ? '' : ` -> ${label}`}`
    })
    .toSorted()
}

export function untilEffective({ coordinator, revision }: Harness): Promise<unknown> {
  return eventually(`revision ${revision} is effective`, () => {
    const condition = coordinator.condition()
    return condition?.effectiveRevision === revision && condition.engineState === 'running'
  })
}

/** Two groups with domains; the second has a newer VCL beside the serving one. */
export function domains(harness: Harness, mark: string): DesiredEngine {
  const { coordinator } = harness
  const groups = [program(harness, 2, '1'), program(harness, 3, mark), program(harness, 3, '1')]
  const routing = makeRoutingVcl([
    { fqdn: 'shop.example', groupId: 2 },
    { fqdn: '*.blog.example', groupId: 3 },
  ])
  coordinator.publish(routing.text)
  const load = new Map([...groups, routing].map(({ name, sha }) => [name, { name, sha }]))
  const labels = [
    { label: 'cf-l-2', program: 'cf-2-aaaaaaaa-1' },
    { label: 'cf-l-3', program: `cf-3-aaaaaaaa-${mark}` },
  ]
  return { load: [...load.values()], labels, active: routing.name }
}
