/** Probes of a rollout: repeated GET requests to the cache's client address, as the policy defines them. */
import { request } from 'node:http'
import type { Probed, ProbeOrder } from '../../messages/observations.js'

export interface ProbeTarget {
  readonly host: string
  /** 0: no listener, the cache is only simulated. */
  readonly port: number
}

const timeoutMs = 5_000
/** Limit for the part of a body that is searched. */
const bodyLimitBytes = 1 << 20

interface Running {
  readonly order: ProbeOrder
  dueAtMs: number
  isUnderWay: boolean
  wrongSinceMs: number | null
  seen: Probed | null
}

/** The probes of one rollout, in the order of its policy. */
export class Probes {
  readonly #target: ProbeTarget
  #running: Running[] = []

  constructor(target: ProbeTarget) {
    this.#target = target
  }

  /** Probes that are already running continue. */
  take(orders: readonly ProbeOrder[]): void {
    this.#running = orders.map((order, at) => {
      const known = this.#running[at]
      const isSame = JSON.stringify(known?.order) === JSON.stringify(order)
      if (known && isSame) return known
      return { order, dueAtMs: 0, isUnderWay: false, wrongSinceMs: null, seen: null }
    })
  }

  /** Called when another VCL serves: earlier results do not apply to it. */
  forget(): void {
    this.#running = this.#running.map(({ order }) => {
      return { order, dueAtMs: 0, isUnderWay: false, wrongSinceMs: null, seen: null }
    })
  }

  /** Sends due probes without waiting for their results. */
  sendDue(nowMs: number): void {
    if (this.#target.port === 0) return
    for (const one of this.#running)
      if (!one.isUnderWay && nowMs >= one.dueAtMs) void this.#send(one, nowMs) // never rejects
  }

  get seen(): readonly (Probed | null)[] {
    return this.#running.map(({ seen }) => seen)
  }

  async #send(one: Running, nowMs: number): Promise<void> {
    one.isUnderWay = true
    one.dueAtMs = nowMs + one.order.everyMs
    const reason = await probe(this.#target, one.order)
    one.isUnderWay = false
    const endedMs = performance.now()
    one.wrongSinceMs = reason === null ? null : (one.wrongSinceMs ?? nowMs)
    const wrongMs =
      one.wrongSinceMs === null ? 0 : Math.max(1, Math.round(endedMs - one.wrongSinceMs))
    one.seen = { wrongMs, reason }
  }
}

/** Returns null when the response is right, else the error. Never rejects. */
function probe({ host, port }: ProbeTarget, order: ProbeOrder): Promise<string | null> {
  return new Promise((resolve) => {
    const wrong = (what: string): void => {
      resolve(`GET ${order.path} of ${order.host}: ${what}`.slice(0, 1000))
    }
    const call = request(
      { host, port, agent: false, path: order.path, headers: { host: order.host } },
      (answer) => {
        let body = ''
        answer.setEncoding('utf8').on('data', (text: string) => {
          if (body.length < bodyLimitBytes) body += text
        })
        answer.on('error', (error) => {
          wrong(error.message)
        })
        answer.on('end', () => {
          const { statusCode = 0 } = answer
          if (statusCode !== order.status) wrong(`status ${statusCode}, expected ${order.status}`)
          else if (order.bodyContains !== null && !body.includes(order.bodyContains))
            wrong(`the body lacks ${JSON.stringify(order.bodyContains)}`)
          else resolve(null)
        })
      },
    )
    call.setTimeout(timeoutMs, () => call.destroy(new Error(`no answer in ${timeoutMs / 1000} s`)))
    call.on('error', (error) => {
      wrong(error.message)
    })
    call.end()
  })
}
