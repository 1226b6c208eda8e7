export declare function isFast(path: string): boolean;
