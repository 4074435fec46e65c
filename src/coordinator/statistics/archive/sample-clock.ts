/**
 * When a sample was taken, by the coordinator's clock: the agent's own times are as far apart as the samples, whatever its
 * link does to them, but its clock may be wrong.
 */

/** Chosen by us: samples that came so much too early or late mean that a clock was set. */
const toleranceMs = 30_000

/** How much later the coordinator's clock is than the agent's; `before` is of the link's earlier samples. */
export function alignClock(
  before: number | null,
  { at, receivedAt }: { readonly at: number; readonly receivedAt: number },
): number {
  const offset = receivedAt - at
  return before !== null && Math.abs(offset - before) <= toleranceMs ? before : offset
}
