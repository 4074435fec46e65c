/** Self-signed certificates; Node can read but not create them. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** For the host `subject` only. Writes both files as PEM. */
export async function makeCertificate(cert: string, key: string, subject: string): Promise<void> {
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-subj', `/CN=${subject}`, '-days', '2', '-keyout', key, '-out', cert],
  ])
}
