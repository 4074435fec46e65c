/** What an agent may be asked to do: declared once in hello, looked up by the coordinator and enforced in the agent. */

/** `report`: tell what is true. `deploy`: change VCL. `command`: change parameters, health, bans. */
export const capabilities = ['report', 'deploy', 'command'] as const
export type Capability = (typeof capabilities)[number]

export function capabilitiesOf(options: { readOnly: boolean }): readonly Capability[] {
  return options.readOnly ? ['report'] : capabilities
}
