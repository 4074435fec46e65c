/** A placeholder while something loads; it shows only after a delay. */

export function Loading() {
  return <p class="loading">Loading…</p>
}
