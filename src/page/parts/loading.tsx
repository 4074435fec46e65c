/** Stands where something is on its way: says so only to who has to wait. */

export function Loading() {
  return <p class="loading">Loading…</p>
}
