/** What is done when a test process ends, also when it ends without its teardowns. One listener of the process for all of it. */
const acts = new Set<() => void>()
process.once('exit', () => {
  for (const act of acts) act()
})

/** Answers how to take it back. */
export function atExit(act: () => void): () => void {
  acts.add(act)
  return () => {
    acts.delete(act)
  }
}
