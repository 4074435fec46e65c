/** A simulated engine like the agent's: with the project's own VCL compiler. */
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
