/**
 * One tab after the other, by a note in the storage that says whose turn it is. A note that nobody keeps up is of a tab
 * that was left in the middle of its call: the call still ends, and the next turn waits for that. Browsers have locks on
 * HTTPS and on this machine; elsewhere who wrote last has the turn.
 */

const name = 'cachefleet.turn'
/** Chosen by us: in this time the call of a tab that was left ends. */
const noteMs = 2_000
const keepUpMs = 700
/** Who wrote at the same moment is seen after it. */
const settleMs = 80

export async function takeTurn<T>(work: () => Promise<T>): Promise<T> {
  if (!('locks' in navigator)) return workInTurn(work, false)
  return navigator.locks.request(name, () => workInTurn(work, true))
}

async function workInTurn<T>(work: () => Promise<T>, isLocked: boolean): Promise<T> {
  const owner = String(Math.random())
  while (!(await leaveNote(owner, isLocked))) await pause(settleMs * (1 + Math.random()))
  const keeping = setInterval(() => {
    writeNote(owner)
  }, keepUpMs)
  try {
    return await work()
  } finally {
    clearInterval(keeping)
    localStorage.removeItem(name)
  }
}

/** Whether it is this tab's turn now. */
async function leaveNote(owner: string, isLocked: boolean): Promise<boolean> {
  const leftMs = readNote().untilMs - Date.now()
  // One from further ahead is from before the clock was set back.
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
