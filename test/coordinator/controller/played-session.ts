/** A stand-in for an agent session on the real bus. */
import type { Test } from 'tap'
import {
  instructionSubject,
  type InstructionReply,
  type InstructionRequest,
} from '../../../src/coordinator/bus/subjects.js'
import type { Controller } from '../../support/start-controller.js'

export function done(value: unknown): InstructionReply {
  return { result: 'done', value, error: null }
}

/** Responds on the bus like the coordinator that holds the agent session; returns the received requests. */
export function playSession(
  t: Test,
  { service: { bus } }: Pick<Controller, 'service'>,
  agentId: number,
  reply: (request: InstructionRequest) => InstructionReply,
): readonly InstructionRequest[] {
  const asked: InstructionRequest[] = []
  const subscription = bus.respond(instructionSubject(agentId), (request) => {
    asked.push(request)
    return Promise.resolve(reply(request))
  })
  t.teardown(() => {
    subscription.close()
  })
  return asked
}
