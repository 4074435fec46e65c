/** Waits until one of the files changes. */
import { watch, type FSWatcher } from 'node:fs'
import { dirname } from 'node:path'
import { stat } from 'node:fs/promises'
import { pauseFor } from '../../runtime/pause.js'

/** Editors write a file in several steps. */
const restMs = 200

/** Watches folders instead of files, because a replaced file would no longer be watched. */
export async function watchFiles(paths: readonly string[]): Promise<void> {
  const folders = new Set<string>()
  for (const path of paths) {
    const status = await stat(path).catch(() => null)
    folders.add(status?.isDirectory() === true ? path : dirname(path))
  }
  const watchers: FSWatcher[] = []
  try {
    await new Promise<void>((resolve, reject) => {
      for (const folder of folders) {
        const watcher = watch(folder, () => {
          resolve()
        })
        watcher.once('error', reject)
        watchers.push(watcher)
      }
    })
    await pauseFor(restMs)
  } finally {
    for (const watcher of watchers) watcher.close()
  }
}
