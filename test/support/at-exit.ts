/** Functions that run when a test process ends, even without its teardowns. A single process listener serves them all. */
const acts = new Set<() => void>()
process.once('exit', () => {
  for (const act of acts) act()
})

/** Returns a function that cancels it. */
export function atExit(act: () => void): () => void {
  acts.add(act)
  return () => {
    acts.delete(act)
  }
}
