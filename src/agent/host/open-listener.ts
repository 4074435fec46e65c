/** An HTTP server of the agent: listens on the address of a setting, and closes together with its connections. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Listener {
  readonly port: number
  close(): Promise<void>
}

/** `setting`: its name, for the error message. Rejects when it cannot listen there. */
export async function openListener(
  server: Server,
  setting: string,
  { host, port: asked }: { readonly host: string; readonly port: number },
): Promise<Listener> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const text = `${setting}: ${host} port ${asked} cannot be listened on: ${cause.message}`
      reject(new Error(`${text}; right would be a free HOST:PORT of this host`, { cause }))
    })
    server.listen(asked, host, resolve)
  })
  const { port } = server.address() as AddressInfo // a TCP server has a port
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}
