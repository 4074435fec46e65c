/** Version compatibility of coordinator and agent: same major version, at most one minor apart (docs/behaviour.md, Versions). */

/** Returns why they are incompatible, in words for the agent's operator; null: compatible. */
export function findSkew(coordinatorVersion: string, agentVersion: string): string | null {
  const [ourMajor, ourMinor] = readVersion(coordinatorVersion)
  const [theirMajor, theirMinor] = readVersion(agentVersion)
  if (ourMajor === theirMajor && Math.abs(ourMinor - theirMinor) <= 1) return null
  return `agent ${agentVersion} is over one minor version from coordinator ${coordinatorVersion}`
}

/** A peer of the next minor version may send fields that are unknown here. */
export function isNewerMinor(coordinatorVersion: string, agentVersion: string): boolean {
  const [ourMajor, ourMinor] = readVersion(coordinatorVersion)
  const [theirMajor, theirMinor] = readVersion(agentVersion)
  return theirMajor === ourMajor && theirMinor > ourMinor
}

function readVersion(text: string): readonly [number, number] {
  const [major = '0', minor = '0'] = text.split('.', 2)
  return [Number(major), Number(minor)]
}
