/**
 * Calls every route of both APIs with hostile values in its path, its query and each part of its body. A call may be refused or accepted,
 * but must never cause an internal error or touch anything else. Each place gets one of the hostile values in turn; TEST_SEED starts
 * elsewhere.
 */
import { Agent, request } from 'node:http'
import t, { type Test } from 'tap'
import type { Route } from '../../../src/coordinator/http/route.js'
import { basic } from '../../support/http-call.js'
import type { Controller } from '../../support/start-controller.js'
import { startConsoleTenants } from '../console/tenants.js'
import * as ofConsole from '../console/samples.js'
import { startTenants } from '../identity/people.js'
import { seedTenant, settleOwner } from '../tenancy/tenant-objects.js'
import * as ofController from '../tenancy/samples.js'
import { jsonTexts, pathSteps, queryNames, queryValues, splitAtParts } from './hostile-values.js'

const seed = Number(process.env['TEST_SEED'] ?? 0)

interface Sample {
  readonly route: Route
  /** The route’s address; `steps` replace its own parameters. */
  readonly addressOf: (steps: Readonly<Record<string, string>>) => string
  readonly body: unknown
}

interface Attack {
  readonly method: string
  readonly path: string
  readonly text: string | undefined
}

/** These end the session in use, or count as failed logins. */
const left = ['logout', 'changePassword', 'login', 'refresh', 'consoleLogin', 'consoleLogout']
const order = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

void t.test('hostile calls of the controller API', async (t) => {
  const tenants = await startTenants(t)
  const objects = await seedTenant(tenants, await settleOwner(tenants, 'red'))
  const samples = tenants.controller.routes.map((route): Sample => {
    const kind = ofController.kindIn(route)
    const { params = {}, body } = ofController.sampleOf(route)
    const own: Readonly<Record<string, string>> = {
      ...params,
      ...(kind === null ? {} : { id: String(objects[kind]) }),
    }
    return {
      route,
      addressOf: (steps) =>
        `/api/v1${route.path.replace(/\{(\w+)\}/g, (_, name: string) => steps[name] ?? own[name] ?? '')}`,
      body: body?.(objects),
    }
  })
  await attackAll(t, tenants.controller, samples, `Bearer ${tenants.system.token}`)
})

void t.test('hostile calls of the console API', async (t) => {
  const tenants = await startConsoleTenants(t)
  const { objects, callers } = await tenants.makeTenant('red')
  const samples = tenants.controller.consoleRoutes.map((route): Sample => {
    const { body } = ofConsole.sampleOf(route)
    return {
      route,
      addressOf: (steps) => `/api${ofConsole.addressOf(route, objects, steps).replace(/\?.*/, '')}`,
      body: body?.(objects),
    }
  })
  const [name = '', password = ''] = callers.admin.split(':')
  await attackAll(t, tenants.controller, samples, basic(name, password))
})

async function attackAll(
  t: Test,
  { base, lines }: Controller,
  samples: readonly Sample[],
  authorization: string,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => {
    agent.destroy()
  })
  const chosen = samples
    .filter(({ route }) => !left.includes(route.operationId))
    // Routes that delete go last.
    .toSorted((a, b) => order.indexOf(a.route.method) - order.indexOf(b.route.method))
  const wrong: string[] = []
  let count = 0
  for (const attack of chosen.flatMap(listAttacks)) {
    count += 1
    const answer = await send(base, agent, authorization, attack)
    const isBug = lines.splice(0).some(({ level }) => Number(level) >= 50)
    // No agent is connected, so calls that query a cache answer 503.
    const isAnswer = answer.status < 500 || answer.status === 503
    if (isBug || !isAnswer || (answer.status >= 400 && !isRefusal(answer.text)))
      wrong.push(JSON.stringify({ ...attack, ...answer }).slice(0, 1000))
  }
  t.same(wrong, [])
  t.ok(count > 200, `${count} calls`)
  t.equal(Reflect.get({}, 'polluted'), undefined)
  t.equal((await fetch(`${base}/readyz`)).status, 200)
}

function pick(values: readonly string[], place: number): string {
  return values[(seed + place) % values.length] ?? ''
}

function listAttacks({ route, addressOf, body }: Sample, place: number): Attack[] {
  const { method } = route
  const right = addressOf({})
  const text = body === undefined ? undefined : JSON.stringify(body)
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const paths = names.map((name, at) => addressOf({ [name]: pick(pathSteps, place + at) }))
  const parameters = Object.keys(route.query?.properties ?? {})
  const queries = parameters.map((name, at) => `${name}=${pick(queryValues, place + at)}`)
  const parts = text === undefined ? [] : splitAtParts(body)
  return [
    ...paths.map((path) => ({ method, path, text })),
    ...[...queries, pick(queryNames, place)].map((query) => ({
      method,
      path: `${right}?${query}`,
      text,
    })),
    ...parts.map(({ before, behind }, at) => ({
      method,
      path: right,
      text: `${before}${pick(jsonTexts, place + at)}${behind}`,
    })),
  ]
}

interface Answered {
  readonly status: number
  readonly text: string
}

/** Sends the path unchanged; `fetch` would normalize it. */
function send(
  base: string,
  agent: Agent,
  authorization: string,
  { method, path, text }: Attack,
): Promise<Answered> {
  const type = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text ?? ''),
  }
  const headers = { authorization, ...(text === undefined ? {} : type) }
  return new Promise((resolve, reject) => {
    const sent = request(base + path, { method, agent, headers })
    sent.once('error', reject)
    sent.once('response', (answer) => {
      let heard = ''
      answer.setEncoding('utf8').on('data', (piece: string) => (heard += piece))
      answer.once('end', () => {
        resolve({ status: answer.statusCode ?? 0, text: heard })
      })
    })
    sent.end(text)
  })
}

/** Whether an error body of either API has a message. */
function isRefusal(text: string): boolean {
  const answer = JSON.parse(text) as { readonly errorMsg?: string; readonly message?: string }
  return (answer.errorMsg ?? answer.message ?? '') !== ''
}
