/** A simulated engine as the agent makes one: with the project's own compiler of VCL. */
import {
  createSimulatedEngine as create,
  type SimulatedEngine,
  type SimulatedEngineOptions,
} from '../../protocol/simulator/simulated-engine.js'
import { compileVcl } from '../../src/agent/simulated/compile-vcl.js'

export type EngineOptions = Omit<SimulatedEngineOptions, 'compileVcl'>

export function createSimulatedEngine(options: EngineOptions = {}): SimulatedEngine {
  return create({ ...options, compileVcl })
}
