/** Waits until the coordinator reports the expected state of the new agent; the query uses the agent's own key. */
import { join } from 'node:path'
import { Type } from 'typebox'
import type { Settings } from '../../config/schema.js'
import { createCaPin } from '../agent/link/ca-pin.js'
import { spreadAddress } from '../agent/link/coordinator-address.js'
import { fetchOwnState } from '../agent/link/coordinator-http.js'
import { parseFitting, prepareGuard } from '../mismatch.js'
import { orNull, text, type Fitting } from '../resources/json-fields.js'
import { readIfThere } from '../runtime/durable-file.js'
import { pauseFor } from '../runtime/pause.js'
import { EnrollError, textOf } from './enroll-error.js'

const ownState = Type.Object({
  stateName: text,
  engineError: orNull(text),
  lockedBecause: orNull(text),
})
type SeenState = Fitting<typeof ownState>

const isOwnState = prepareGuard(ownState)

interface Waiting {
  readonly waitMs: number
  /** For a user who investigates further. */
  readonly unit: string
  readonly signal: AbortSignal
}

const pollPauseMs = 250
/** Locked: enrolled, and an administrator decides about its cache. */
const arrived: ReadonlySet<string> = new Set(['Running', 'ReadOnly', 'Locked'])

/** Throws EnrollError when the time is over. */
export async function untilRunning(
  settings: Pick<Settings, 'stateDir' | 'coordinatorUrl' | 'coordinatorCa' | 'name'>,
  { waitMs, unit, signal }: Waiting,
): Promise<SeenState> {
  const endAtMs = performance.now() + waitMs
  let why = 'the agent made no key'
  while (performance.now() < endAtMs) {
    signal.throwIfAborted()
    try {
      const state = await askState(settings, signal)
      if (state && arrived.has(state.stateName)) return state
      if (state) why = `it is ${state.stateName}: ${state.engineError ?? 'no reason is known yet'}`
    } catch (error) {
      why = textOf(error)
    }
    await pauseFor(pollPauseMs, signal).catch(() => undefined)
  }
  throw new EnrollError(
    `the agent is not Running within ${Math.round(waitMs / 1000)} s: ${why}; everything was taken back, and journalctl -u ${unit} tells what it did`,
  )
}

/** Null before the agent has a key. */
async function askState(
  { stateDir, coordinatorUrl, coordinatorCa, name }: Parameters<typeof untilRunning>[0],
  signal: AbortSignal,
): Promise<SeenState | null> {
  const key = (await readIfThere(join(stateDir, 'agent.key')))?.trim()
  if (key === undefined) return null
  const pin = createCaPin({
    file: join(stateDir, 'coordinator-ca.pem'),
    joinToken: () => Promise.resolve(undefined),
  })
  const address = spreadAddress({ url: coordinatorUrl, caFile: coordinatorCa, pin }, name)
  const answer = await fetchOwnState({ address, key, signal })
  const state = parseFitting(answer, isOwnState)
  if (!state) throw new Error('the coordinator answered no state of the agent')
  return state
}
