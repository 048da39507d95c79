// The fields that entities of several kinds have. The file of each kind has the type of its entities.

export type Tags = Readonly<Record<string, unknown>>;
export type Precedence = 'default' | 'required' | 'failed';
export type Semantic = 'AllOf' | 'AnyOf';
export type PermissionType = 'Dial' | 'Bind';

export interface Entity {
  readonly id: string;
  /** RFC 3339 with milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly tags: Tags;
  readonly isSystem: boolean;
}

export interface Named extends Entity {
  readonly name: string;
}

/** Joins entities that its role lists select. */
export interface Policy extends Named {
  readonly semantic: Semantic;
}

/** An authority or issuer outside of the network that vouches for clients. */
export interface Vouching extends Named {
  /**
   * False if a caller without full rights changed it last: it then cannot vouch for administrators. Missing in older
   * data.
   */
  readonly vouchesForAdmins?: boolean;
}
