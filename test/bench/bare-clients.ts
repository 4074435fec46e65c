/** The process of `bare-deploy.ts` in place of the agents: each waits for the time of a compilation and answers. */
import { WebSocket } from 'ws'

export interface ClientsOrder {
  readonly url: string
  readonly count: number
  /** Delay before the first of two answers. */
  readonly compileMs: number
}

process.on('message', (order: ClientsOrder) => {
  void connectAll(order).then(() => process.send?.({}))
})
process.once('disconnect', () => process.exit())

async function connectAll({ url, count, compileMs }: ClientsOrder): Promise<void> {
  for (let number = 0; number < count; number++) await connectOne(url, compileMs)
}

function connectOne(url: string, compileMs: number): Promise<void> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as BareApply | BareInvalidate
    if ('entries' in message) {
      const results = message.entries.map(({ position }) => ({
        position,
        result: 'done',
        error: null,
      }))
      const { traceId } = message
      const answer = { kind: 'invalidated', traceId, results, trouble: null, sequence: 1 }
      socket.send(JSON.stringify(answer))
      return
    }
    const { revision, desired } = message
    const answer = { kind: 'applyReport', revision, result: 'applied', loaded: desired.phase }
    setTimeout(
      () => {
        socket.send(JSON.stringify(answer))
      },
      desired.phase === 'load' ? compileMs : 0,
    )
  })
  return new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
}

/** As sent by the hub. */
interface BareApply {
  readonly revision: number
  readonly desired: { readonly phase: string }
}

interface BareInvalidate {
  readonly traceId: string
  readonly entries: readonly { readonly position: number }[]
}
