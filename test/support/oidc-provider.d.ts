/** The part of oidc-provider that tests use; it has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Client {
    readonly client_id: string
    readonly client_secret?: string
    readonly redirect_uris: readonly string[]
    readonly token_endpoint_auth_method?: string
  }

  export interface Configuration {
    readonly clients: readonly Client[]
    readonly claims: Readonly<Record<string, readonly string[]>>
    readonly scopes: readonly string[]
    readonly cookies: { readonly keys: readonly string[] }
    readonly conformIdTokenClaims: boolean
    readonly features: { readonly devInteractions: { readonly enabled: boolean } }
    readonly interactions: { readonly url: (context: unknown, interaction: Interaction) => string }
    readonly pkce: { readonly required: () => boolean }
    readonly ttl: Readonly<Record<string, number>>
    readonly findAccount: (context: unknown, id: string) => object
    readonly renderError: (context: { body: unknown }, out: object) => void
  }

  export interface Interaction {
    readonly uid: string
    readonly prompt: { readonly name: string }
    readonly params: Readonly<Record<string, string>>
    readonly session?: { readonly accountId: string }
  }

  export class Provider {
    constructor(issuer: string, configuration: Configuration)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
    ): Promise<void>
    readonly Grant: new (about: { readonly accountId: string; readonly clientId: string }) => {
      addOIDCScope(scopes: string): void
      save(): Promise<string>
    }
  }
}
