/**
 * The coordinators' CA: in the state directory, and sealed in a store that several coordinators share; all of them use the first
 * one's CA (docs/behaviour.md, TLS). Its key leaves neither place.
 */
import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { splitPem } from '../../resources/pem.js'
import { FleetError } from '../../errors.js'
import { readIfThere, writeDurably } from '../../runtime/durable-file.js'
import { readSealedCa, sealedPurposes, writeSealedCa } from '../identity/sealed-texts.js'
import type { Sealing } from '../identity/sealing.js'
import type { Store } from '../store/store.js'
import { issueCa, type Issued } from './issue-certificate.js'

export interface SharedStore {
  readonly store: Store
  readonly sealing: Sealing
}

export function caFileOf(stateDir: string): string {
  return join(stateDir, 'ca.pem')
}

/** Null if there is no file. Throws FleetError 'invalid' if the file holds no CA. */
export async function readCa(stateDir: string): Promise<Issued | null> {
  const file = caFileOf(stateDir)
  const text = await readIfThere(file)
  return text === null ? null : parseCa(text, file)
}

/** Creates the CA if there is none. `shared` is null if no other coordinator can use the store. */
export async function openCa(
  stateDir: string,
  shared: SharedStore | null,
  now: number,
): Promise<Issued> {
  const kept = await readCa(stateDir)
  const ca = shared ? await agreeOnCa(shared, kept, now) : (kept ?? issueCa(now))
  if (kept !== null && printCa(kept) === printCa(ca)) return ca
  // Kept because agents may still trust it and an administrator may want to restore it.
  if (kept !== null) await writeDurably(`${caFileOf(stateDir)}.before`, printCa(kept))
  await writeDurably(caFileOf(stateDir), printCa(ca))
  return ca
}

/** If several coordinators start at once, the first to write decides. */
async function agreeOnCa(
  { store, sealing }: SharedStore,
  kept: Issued | null,
  now: number,
): Promise<Issued> {
  const purpose = sealedPurposes.coordinatorCa
  const sealed = await sealing.write(store, async (queries) => {
    const there = await readSealedCa(queries)
    if (there !== undefined) return there
    const made = sealing.seal(printCa(kept ?? issueCa(now)), purpose)
    await writeSealedCa(queries, made)
    return made
  })
  return parseCa(await sealing.open(sealed, purpose), 'the store')
}

function printCa({ certificate, key }: Issued): string {
  return `${key}${certificate}`
}

function parseCa(text: string, where: string): Issued {
  try {
    const blocks = splitPem(text)
    const key = blocks.find(({ label }) => label === 'PRIVATE KEY')?.text ?? ''
    const certificate = blocks.find(({ label }) => label === 'CERTIFICATE')?.text ?? ''
    if (key === '' || !new X509Certificate(certificate).ca) throw new Error('it has no CA and key')
    return { key, certificate }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const message = `${where} does not hold the coordinators' CA: ${why}; restore the file from a backup, or remove it: then another CA is made, and agents need new join tokens`
    throw new FleetError('invalid', 'store', message, { cause })
  }
}
