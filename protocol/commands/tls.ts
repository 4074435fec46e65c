/**
 * Certificates of a cache with a TLS listener (Varnish 9.0, mgt_tls_conf.c): load, commit, discard, roll back, list.
 *
 * Loads and discards are staged until a commit. The manager replies, and sends the file's content to the child: without a TLS listener a
 * load kills the child, and only the list shows whether there is one.
 */
import { expectOk, expectText, garbledAnswer, type Command } from '../command.js'
import { ManagementPortError } from '../errors.js'
import { commandLine } from '../quote.js'
import { cliStatus } from '../status.js'

export interface CertificateRow {
  readonly id: string
  /** `active`: committed, or left over from a load that was rolled back. */
  readonly status: 'active' | 'staged' | 'discard'
}

const notConfigured = 'TLS has not been configured'

/** Returns null if the cache has no TLS listener, or its release has no certificates. */
export function tlsCertList(): Command<readonly CertificateRow[] | null> {
  return {
    name: 'tls.cert.list',
    line: 'tls.cert.list',
    parse: (reply, name) => {
      const text = reply.body.toString('utf8')
      if (reply.status === cliStatus.unknown) return null
      if (reply.status === cliStatus.cannot && text.trim() === notConfigured) return null
      return parseCertificateList(expectText(reply, name), name)
    },
  }
}

/**
 * Rows of frontend, id, status and subject, separated by tabs; empty without certificates. Certificates of every listener belong to
 * `default`; the first listener repeats them.
 */
export function parseCertificateList(text: string, name: string): readonly CertificateRow[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [frontend, id, status] = line.split('\t')
      if (id === undefined || (status !== 'active' && status !== 'staged' && status !== 'discard'))
        throw garbledAnswer(name, `not a row of certificates: ${JSON.stringify(line.slice(0, 80))}`)
      return frontend === 'default' ? [{ id, status }] : []
    })
}

/** The file contains certificate, chain and key. Use it only if the cache's list has shown that it has a TLS listener. */
export function tlsCertLoad(id: string, path: string): Command<void> {
  const name = 'tls.cert.load'
  // The cache treats a word with a leading dash as an option.
  if (path.startsWith('-'))
    throw new ManagementPortError('refused', 'the path begins with a dash', { command: name })
  return { name, line: commandLine(name, [id, path]), parse: expectOk }
}

export function tlsCertDiscard(id: string): Command<void> {
  return { name: 'tls.cert.discard', line: commandLine('tls.cert.discard', [id]), parse: expectOk }
}

/** Applies all staged changes at once. */
export function tlsCertCommit(): Command<void> {
  return { name: 'tls.cert.commit', line: 'tls.cert.commit', parse: expectOk }
}

/** Discards all staged changes. */
export function tlsCertRollback(): Command<void> {
  return { name: 'tls.cert.rollback', line: 'tls.cert.rollback', parse: expectOk }
}

/** Reads the files of all committed certificates again, after which the child serves exactly what the manager holds. */
export function tlsCertReload(): Command<void> {
  return { name: 'tls.cert.reload', line: 'tls.cert.reload', parse: expectOk }
}
