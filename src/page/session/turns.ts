/** One tab after the other: locks where browsers have them (HTTPS, this machine), elsewhere a note in the storage. */

const name = 'cachefleet.turn'
/** Chosen by us: longer than a call takes; a tab that was closed in its turn holds the others up no longer. */
const leaseMs = 10_000
/** Who wrote at the same moment is seen after it. */
const settleMs = 80

export async function takeTurn<T>(work: () => Promise<T>): Promise<T> {
  if ('locks' in navigator) return navigator.locks.request(name, work)
  const note = `${Math.random()}`
  while (!(await leaveNote(note))) await pause(settleMs * (1 + Math.random()))
  try {
    return await work()
  } finally {
    localStorage.removeItem(name)
  }
}

/** Whether it is this tab's turn now. */
async function leaveNote(note: string): Promise<boolean> {
  const [, until = '0'] = (localStorage.getItem(name) ?? '').split(' ')
  if (Number(until) > Date.now()) return false
  localStorage.setItem(name, `${note} ${Date.now() + leaseMs}`)
  await pause(settleMs)
  return localStorage.getItem(name)?.startsWith(`${note} `) === true
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, milliseconds))
}
