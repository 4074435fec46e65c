/**
 * Work repeated for as long as its owner lives. Passes never overlap: the wait for the next one begins when the last one
 * has ended. A failed pass is logged with its trace id; the next one follows as usual.
 */
import { pino, type Logger } from 'pino'
import { createContext, type Context } from '../context.js'
import { processClock, type Clock } from './clock.js'

const silent = pino({ level: 'silent' })

export interface Loop {
  /** Begins the next pass within `withinMs`; while a pass runs, within `withinMs` after its end. */
  wake(withinMs?: number): void
  /** Begins a pass at once, or after the running one; resolves when that pass has ended. */
  runNow(): Promise<void>
  readonly isRunning: boolean
  /** Begins no further pass. Resolves when the running one has ended. */
  close(): Promise<void>
}

export interface Pass {
  /** Each pass has its own. */
  readonly context: Context
  /** Fires when the loop is closed: the pass must stop waiting. */
  readonly signal: AbortSignal
  /** Sets when the next pass begins, if not after `everyMs`; null: when the loop is woken. */
  readonly nextIn: (waitMs: number | null) => void
}

export interface LoopOptions {
  /** Null: failures are not logged, because the work is retried or the failure is reported elsewhere. */
  readonly log: Logger | null
  /** The log message for a failure: an error the first time, then debug until a pass succeeds again. */
  readonly trouble?: string
  /** From the end of a pass to the next one; null: passes run only when the loop is woken. */
  readonly everyMs: number | null
  /** The wait before the first pass; `everyMs` by default. */
  readonly firstMs?: number | null
  /** The fraction by which `everyMs` varies, so that agents started together do not stay in step. */
  readonly jitter?: number
  /** The minimum pause after a failed pass, however often the loop is woken. */
  readonly retryMs?: number
  /** The minimum pause after a successful pass that took `tookMs`. */
  readonly restMs?: (tookMs: number) => number
  /** False: a waiting loop does not keep the process alive. */
  readonly holdsProcess?: boolean
  readonly clock?: Clock
  /** Its result is awaited. */
  readonly pass: (pass: Pass) => unknown
}

export function startLoop(options: LoopOptions): Loop {
  const { log, everyMs, retryMs, restMs, clock = processClock } = options
  const ending = new AbortController()
  const alarm = createAlarm(clock, options.holdsProcess !== false, () => {
    void begin() // never rejects
  })
  let running: Promise<void> = Promise.resolve()
  let isRunning = false
  /** The earliest wake requested while a pass runs. */
  let wantedInMs = Number.POSITIVE_INFINITY
  let following: Promise<void> | null = null
  let notBeforeMs = Number.NEGATIVE_INFINITY
  let isFailing = false
  plan(options.firstMs === undefined ? everyMs : options.firstMs)

  return {
    get isRunning() {
      return isRunning
    },
    wake: (withinMs = 0) => {
      if (isRunning) wantedInMs = Math.min(wantedInMs, withinMs)
      else if (withinMs <= 0 && notBeforeMs <= clock.nowMs()) void begin() // never rejects
      else plan(withinMs)
    },
    runNow: () => {
      if (!isRunning) return begin()
      following ??= running.then(() => {
        following = null
        return isRunning ? running : begin()
      })
      return following
    },
    close: async () => {
      ending.abort()
      alarm.cancel()
      await running
    },
  }

  function plan(waitMs: number | null): void {
    if (waitMs === null || ending.signal.aborted) return
    alarm.setAt(Math.max(clock.nowMs() + waitMs, notBeforeMs))
  }

  function begin(): Promise<void> {
    alarm.cancel()
    if (ending.signal.aborted) return running
    isRunning = true
    running = runPass()
    return running
  }

  async function runPass(): Promise<void> {
    const startedAtMs = clock.nowMs()
    const context = createContext(log ?? silent)
    let nextMs = everyMs === null ? null : vary(everyMs, options.jitter)
    const nextIn = (waitMs: number | null): void => {
      nextMs = waitMs
    }
    wantedInMs = Number.POSITIVE_INFINITY
    let pauseMs = 0
    try {
      await options.pass({ context, signal: ending.signal, nextIn })
      isFailing = false
      pauseMs = restMs?.(clock.nowMs() - startedAtMs) ?? 0
    } catch (error) {
      context.log[isFailing ? 'debug' : 'error']({ err: error }, options.trouble)
      isFailing = true
      if (retryMs !== undefined) nextMs = pauseMs = retryMs
    }
    notBeforeMs = clock.nowMs() + pauseMs
    isRunning = false
    if (wantedInMs < (nextMs ?? Number.POSITIVE_INFINITY)) nextMs = wantedInMs
    plan(nextMs)
  }
}

/** Rings once; of several times the earliest wins. */
function createAlarm(clock: Clock, holdsProcess: boolean, ring: () => void) {
  let planned: { readonly dueAtMs: number; readonly cancel: () => void } | null = null
  const cancel = (): void => {
    planned?.cancel()
    planned = null
  }
  return {
    cancel,
    setAt: (dueAtMs: number): void => {
      if (planned && planned.dueAtMs <= dueAtMs) return
      cancel()
      planned = { dueAtMs, cancel: clock.after(dueAtMs - clock.nowMs(), ring, holdsProcess) }
    },
  }
}

function vary(waitMs: number, fraction = 0): number {
  return waitMs * (1 + fraction * (2 * Math.random() - 1))
}
