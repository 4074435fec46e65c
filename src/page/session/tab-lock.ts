/**
 * A lock between the tabs of one browser: a note in the storage names its owner. A note that is no longer renewed belongs to a
 * tab that was closed during its call; the next owner waits until that call has ended. Browsers offer Web Locks only on HTTPS
 * and localhost; elsewhere the last writer owns the lock.
 */

const name = 'cachefleet.lock'
/** Long enough for a closed tab's call to end. */
const noteMs = 2_000
const renewMs = 700
/** After this delay a note written at the same moment is visible. */
const settleMs = 80

export async function withTabLock<T>(work: () => Promise<T>): Promise<T> {
  if (!('locks' in navigator)) return runLocked(work, false)
  return navigator.locks.request(name, () => runLocked(work, true))
}

async function runLocked<T>(work: () => Promise<T>, isLocked: boolean): Promise<T> {
  const owner = String(Math.random())
  while (!(await tryLock(owner, isLocked))) await pause(settleMs * (1 + Math.random()))
  const renewing = setInterval(() => {
    writeNote(owner)
  }, renewMs)
  try {
    return await work()
  } finally {
    clearInterval(renewing)
    localStorage.removeItem(name)
  }
}

/** Returns true if this tab now owns the lock. */
async function tryLock(owner: string, isLocked: boolean): Promise<boolean> {
  const leftMs = readNote().untilMs - Date.now()
  // An expiry further ahead predates a backward change of the clock.
  if (leftMs > 0 && leftMs <= noteMs) return false
  writeNote(owner)
  if (isLocked) return true
  await pause(settleMs)
  return readNote().owner === owner
}

function readNote(): { readonly owner: string; readonly untilMs: number } {
  const [owner = '', until = '0'] = (localStorage.getItem(name) ?? '').split(' ')
  return { owner, untilMs: Number(until) }
}

function writeNote(owner: string): void {
  localStorage.setItem(name, `${owner} ${Date.now() + noteMs}`)
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, milliseconds))
}
