import type { WireRotation, WireSecret, WireSecretKeys } from '../../../core/wire/views.ts'
import { listShape, pageShape, objectShape, textShape, timeShape, integerShape } from './shapes.ts'

const keys = {
  keys: listShape(
    objectShape<WireSecretKeys['keys'][number]>('A key, by its id alone.', {
      id: textShape('As it stands in the key file.'),
      secrets: integerShape('How many secrets of the installation it encrypts.'),
    }),
    'Every key that is in use. One that is not listed may be removed from the key files.',
  ),
}

/** Metadata of secrets; their values are never returned. */
export const SECRET_SHAPES = {
  Secret: objectShape<WireSecret>('A secret, without its value.', {
    name: textShape('Unique within its project.'),
    version: integerShape('Counted from 1; every new value increments it.', { minimum: 1 }),
    updated_at: timeShape('When this value was set.'),
    updated_by: textShape('The name of the token it was set with.'),
    key: textShape('The id of the key that encrypts it.'),
  }),
  SecretPage: pageShape('Secret'),
  SecretKeys: objectShape<WireSecretKeys>('The keys that encrypt secrets.', keys),
  Rotation: objectShape<WireRotation>('The result for the secrets of all projects.', {
    key: textShape('The key that encrypts them now.'),
    resealed: integerShape('How many were encrypted with another key before.'),
    broken: listShape({ type: 'string' }, 'Those that could not be decrypted and did not change.'),
    ...keys,
  }),
}
