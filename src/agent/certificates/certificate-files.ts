/**
 * The files of certificates: chain and key in one, which the cache's manager reads at each load and at each start of its child.
 * Simulated agents keep theirs in memory.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { draftOf, readIfThere, writeDurably } from '../../runtime/durable-file.js'

export interface CertificateFiles {
  /** What the cache is told to read. */
  pathOf(name: string): string
  /** Null when it is not there. */
  read(name: string): Promise<string | null>
  write(name: string, text: string): Promise<void>
  remove(name: string): Promise<void>
}

interface Folder {
  readonly path: string
  /** 0o640 where the cache's manager reads them by its group, else 0o600. */
  readonly mode: 0o600 | 0o640
}

/**
 * Below the state dir only its owner reads them; the manager of a cache that runs as root reads them all the same. `tlsDir` is a
 * folder that the manager's group may enter, and is left as it is; it is this agent's alone, as its files are named by what they hold.
 */
export function chooseCertificateFiles({
  tlsDir,
  stateDir,
  certificateFiles,
}: {
  readonly tlsDir?: string | null
  readonly stateDir?: string
  /** Those of a simulated agent. */
  readonly certificateFiles?: CertificateFiles
}): CertificateFiles {
  if (certificateFiles) return certificateFiles
  if (stateDir === undefined) return certificateFilesInMemory(new Map())
  return typeof tlsDir === 'string'
    ? filesOnDisk({ path: tlsDir, mode: 0o640 })
    : filesOnDisk({ path: join(stateDir, 'tls'), mode: 0o600 })
}

function filesOnDisk({ path: folder, mode }: Folder): CertificateFiles {
  const pathOf = (name: string) => resolve(folder, `${name.replace(/^cf-/, '')}.pem`)
  return {
    pathOf,
    read: (name) => readIfThere(pathOf(name)),
    write: async (name, text) => {
      if (mode === 0o600) await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeDurably(pathOf(name), text, mode)
    },
    remove: async (name) => {
      await rm(pathOf(name), { force: true })
      // What a write left that was killed has the key too.
      await rm(draftOf(pathOf(name)), { force: true })
    },
  }
}

/** `texts` by path: the simulated cache reads them there. */
export function certificateFilesInMemory(texts: Map<string, string>): CertificateFiles {
  const pathOf = (name: string) => `/simulated/tls/${name}.pem`
  return {
    pathOf,
    read: (name) => Promise.resolve(texts.get(pathOf(name)) ?? null),
    write: (name, text) => {
      texts.set(pathOf(name), text)
      return Promise.resolve()
    },
    remove: (name) => {
      texts.delete(pathOf(name))
      return Promise.resolve()
    },
  }
}
