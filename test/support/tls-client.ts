/** TLS as a client sees it. */
import { connect } from 'node:tls'

/** Fingerprint of the certificate a client gets; null if the handshake fails. */
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
