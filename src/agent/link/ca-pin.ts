/**
 * When a join token names a CA, the agent trusts only that CA, from the first byte on. It compares the coordinator's certificates
 * with the token before it sends anything, and keeps the CA in the state dir (docs/behaviour.md, TLS).
 */
import { parseJoinToken } from '../../resources/join-token-text.js'
import { readPresentedChain } from '../../presented-chain.js'
import { readIfThere, writeDurably } from '../../runtime/durable-file.js'
import { fingerprintOf } from '../../runtime/fingerprint.js'

export interface CaPin {
  /** PEM; null: no CA is pinned. Rejects, with text for a log, when the coordinator cannot be the intended one. */
  find(url: URL): Promise<string | null>
  /** True when a kept CA is trusted without a token. Never rejects. */
  keepsOne(): Promise<boolean>
  /** Path of the kept CA; for messages. */
  readonly file: string
}

interface CaPinOptions {
  readonly file: string
  /** Read at each use, as for enrolment. */
  readonly joinToken: () => Promise<string | undefined>
}

export function createCaPin({ file, joinToken }: CaPinOptions): CaPin {
  return {
    file,
    keepsOne: () =>
      readKept(file).then(
        (kept) => kept !== null,
        () => false,
      ),
    find: async (url) => {
      const kept = await readKept(file)
      const token = parseJoinToken((await joinToken()) ?? '')
      // A token of another coordinator overrides the kept CA.
      const wanted = token?.fingerprint ?? (kept === null ? null : fingerprintOf(kept))
      if (wanted === null) return null
      if (!isOfTls(url)) throw new Error(describePlain(url, token?.fingerprint ? null : file))
      const isKept = kept !== null && fingerprintOf(kept) === wanted
      return isKept ? kept : keepPresented(url, wanted, file)
    },
  }
}

function isOfTls({ protocol }: URL): boolean {
  return protocol === 'wss:' || protocol === 'https:'
}

/** Rejects for a file that holds no certificate: then no coordinator is trusted. */
async function readKept(file: string): Promise<string | null> {
  const text = await readIfThere(file)
  if (text === null) return null
  try {
    fingerprintOf(text)
    return text
  } catch (cause) {
    throw new Error(
      `${file} holds no certificate; remove it and enrol with a new join token of the coordinator`,
      { cause },
    )
  }
}

async function keepPresented(url: URL, wanted: string, file: string): Promise<string> {
  const { chain } = await readPresentedChain(url)
  const ca = chain.find(({ fingerprint }) => fingerprint === wanted)
  if (!ca) {
    const issuer = chain.at(-1)?.issuer ?? 'nobody'
    throw new Error(
      `the certificate of the coordinator at ${url.host} is by ${issuer} and not by the CA that the join token names (${wanted}): ` +
        'nothing was sent. Where a proxy in front ends TLS, start the coordinators with --tls off and make another token',
    )
  }
  await writeDurably(file, ca.pem)
  return ca.pem
}

/** `file`: where the CA comes from, null if from the token. */
function describePlain({ host }: URL, file: string | null): string {
  const why = file === null ? 'the join token names a CA' : `${file} names the CA`
  return `${why}, so that nothing is sent without TLS: use wss://${host} in --coordinator-url${
    file === null ? ', or a token of a coordinator without TLS' : `, or remove ${file}`
  }`
}
