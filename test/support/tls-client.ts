/** What a client of a TLS listener is shown. */
import { connect } from 'node:tls'

/** The fingerprint of what a client gets; null where the handshake fails. */
export function shakeHands(port: number, name: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', servername: name, rejectUnauthorized: false })
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
    socket.once('error', () => {
      resolve(null)
    })
  })
}
