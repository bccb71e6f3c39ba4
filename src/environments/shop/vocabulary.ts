/**
 * The words of the generated catalogue: ten categories of three groups of three kinds. Nothing here but the colours may
 * contain a base colour as a part ("standard" contains "tan"), or options would match by accident; a test lists such
 * collisions.
 */

export interface CategoryWords {
  readonly name: string;
  readonly groups: readonly GroupWords[];
  /** Phrases of two words of which a product has two to five. */
  readonly attributes: readonly string[];
  /** Nouns that long titles carry beside the brand and the kind. */
  readonly nouns: readonly string[];
  /** What the description says the product is for. */
  readonly uses: readonly string[];
}

export interface GroupWords {
  readonly name: string;
  /** Kind phrases. */
  readonly kinds: readonly [string, string, string];
  /** Option groups that products of this group may have, with their values. */
  readonly options: Readonly<Record<string, readonly string[]>>;
}

export const colours: readonly string[] = [
  'black',
  'white',
  'grey',
  'red',
  'navy blue',
  'sky blue',
  'dark green',
  'dark grey',
  'light pink',
  'olive',
  'tan',
  'purple',
  'yellow',
  'orange',
  'teal',
  'brown',
];

const color = colours;
const shoeSize = ['6', '7', '8', '9', '10', '11'];
const bodySize = ['petite', 'small', 'medium', 'large', 'tall'];
const length = ['20 cm', '40 cm', '60 cm', '80 cm'];
const volume = ['250 ml', '500 ml', '750 ml', '900 ml'];
const pack = ['1 count', '2 count', '4 count', '6 count', '12 count'];
const flavor = [
  'vanilla',
  'cherry',
  'apple',
  'honey',
  'ginger',
  'cocoa',
  'coconut',
  'maple',
  'berry',
  'cinnamon',
  'almond',
  'garlic',
];

export const brands: readonly string[] = [
  'bolt',
  'dover',
  'ember',
  'fable',
  'gusto',
  'haven',
  'indie',
  'jolly',
  'karma',
  'lumen',
  'nimbus',
  'otter',
  'pixel',
  'quill',
  'ridge',
  'sable',
  'tundra',
  'umber',
  'vireo',
  'wren',
  'yonder',
  'zephyr',
  'aspen',
  'birch',
  'cedar',
  'delta',
  'echo',
  'fjord',
  'glade',
  'harbor',
  'iris',
  'juno',
  'kestrel',
  'lark',
  'meadow',
  'north',
  'onyx',
  'pine',
  'quartz',
  'raven',
];

export const categories: readonly CategoryWords[] = [
  {
    name: 'clothing',
    groups: [
      {
        name: 'shoes',
        kinds: ['running shoes', 'walking shoes', 'hiking boots'],
        options: { color, size: shoeSize },
      },
      { name: 'tops', kinds: ['cotton shirt', 'zip hoodie', 'knit sweater'], options: { color, size: bodySize } },
      { name: 'bags', kinds: ['travel backpack', 'canvas tote', 'belt bag'], options: { color, size: bodySize } },
    ],
    attributes: [
      'non slip',
      'quick dry',
      'easy care',
      'soft lining',
      'slim fit',
      'wide cut',
      'padded feel',
      'everyday wear',
      'breathable weave',
      'double stitch',
      'hidden pocket',
      'extra durable',
    ],
    nouns: ['mesh', 'sole', 'strap', 'foam', 'lace', 'buckle', 'collar', 'zipper'],
    uses: ['daily use', 'weekend trips', 'the gym', 'long days'],
  },
  {
    name: 'beauty',
    groups: [
      { name: 'hair', kinds: ['hair brush', 'hair dryer', 'shampoo bar'], options: { color, pack } },
      { name: 'skin', kinds: ['face lotion', 'body scrub', 'lip balm'], options: { flavor, size: volume } },
      { name: 'nails', kinds: ['nail file', 'nail polish kit', 'cuticle oil'], options: { color, pack } },
    ],
    attributes: [
      'cruelty free',
      'fragrance free',
      'vegan formula',
      'travel size',
      'long lasting',
      'deep moisture',
      'gentle daily',
      'plant based',
      'quick absorb',
      'salon grade',
      'alcohol blocked',
      'smooth finish',
    ],
    nouns: ['bristle', 'handle', 'pump', 'tube', 'jar', 'oil', 'comb', 'pouch'],
    uses: ['daily care', 'dry skin', 'a calm evening', 'busy mornings'],
  },
  {
    name: 'grocery',
    groups: [
      { name: 'snacks', kinds: ['trail mix', 'rice crackers', 'oat bars'], options: { flavor, pack } },
      { name: 'drinks', kinds: ['herbal tea', 'oat milk', 'fruit juice'], options: { flavor, size: volume } },
      { name: 'pantry', kinds: ['pasta sauce', 'peanut butter', 'cake mix'], options: { flavor, pack } },
    ],
    attributes: [
      'sugar free',
      'gluten free',
      'low sodium',
      'high protein',
      'dairy free',
      'family recipe',
      'slow roast',
      'certified organic',
      'fair trade',
      'small calorie',
      'whole grain',
      'kosher kitchen',
    ],
    nouns: ['pouch', 'tin', 'leaf', 'seed', 'spice', 'bottle', 'carton', 'syrup'],
    uses: ['breakfast', 'school lunch', 'long hikes', 'quiet evenings'],
  },
  {
    name: 'kitchen',
    groups: [
      { name: 'cookware', kinds: ['frying pan', 'soup pot', 'baking dish'], options: { color, size: length } },
      { name: 'tools', kinds: ['bread knife', 'garlic press', 'oven mitts'], options: { color, pack } },
      { name: 'storage', kinds: ['lunch box', 'spice jar', 'water bottle'], options: { color, size: volume } },
    ],
    attributes: [
      'oven safe',
      'non stick',
      'easy clean',
      'heat proof',
      'space saving',
      'leak proof',
      'bpa free',
      'soft grip',
      'heavy duty',
      'stackable design',
      'double wall',
      'quick seal',
    ],
    nouns: ['lid', 'handle', 'rim', 'blade', 'hook', 'basket', 'liner', 'spout'],
    uses: ['family meals', 'small kitchens', 'baking days', 'picnics'],
  },
  {
    name: 'office',
    groups: [
      { name: 'pens', kinds: ['gel pen', 'fountain pen', 'marker set'], options: { color, pack } },
      { name: 'paper', kinds: ['spiral notebook', 'desk pad', 'index cards'], options: { color, pack } },
      { name: 'desktop', kinds: ['desk organizer', 'paper tray', 'tape dispenser'], options: { color, size: length } },
    ],
    attributes: [
      'smooth writing',
      'quick dry',
      'acid free',
      'fine point',
      'easy refill',
      'bold line',
      'smudge proof',
      'wide spacing',
      'recycled fiber',
      'ink saving',
      'soft touch',
      'extra thick',
    ],
    nouns: ['clip', 'cap', 'tip', 'cover', 'spiral', 'drawer', 'label', 'sleeve'],
    uses: ['school notes', 'long meetings', 'a neat desk', 'sketching'],
  },
  {
    name: 'garden',
    groups: [
      { name: 'lamps', kinds: ['table lamp', 'porch lamp', 'string bulbs'], options: { color, size: length } },
      { name: 'plants', kinds: ['flower pot', 'plant hanger', 'seed tray'], options: { color, size: length } },
      { name: 'upkeep', kinds: ['garden hose', 'pruning shears', 'hand trowel'], options: { color, pack } },
    ],
    attributes: [
      'weather proof',
      'solar panel',
      'easy assemble',
      'heavy duty',
      'kink free',
      'frost safe',
      'energy saving',
      'warm glow',
      'hand made',
      'self watering',
      'quick connect',
      'compact storage',
    ],
    nouns: ['bulb', 'base', 'cord', 'shade', 'nozzle', 'saucer', 'spring', 'bracket'],
    uses: ['the balcony', 'spring planting', 'warm nights', 'small yards'],
  },
  {
    name: 'electronics',
    groups: [
      {
        name: 'audio',
        kinds: ['wireless earbuds', 'shelf speaker', 'studio headphones'],
        options: { color, pack },
      },
      { name: 'power', kinds: ['phone charger', 'power bank', 'extension cord'], options: { color, size: length } },
      { name: 'computing', kinds: ['computer mouse', 'laptop sleeve', 'desk webcam'], options: { color, pack } },
    ],
    attributes: [
      'noise cancelling',
      'fast charging',
      'long battery',
      'water proof',
      'easy pairing',
      'hands free',
      'carry case',
      'wide range',
      'deep bass',
      'touch control',
      'travel friendly',
      'compact build',
    ],
    nouns: ['cable', 'plug', 'case', 'clip', 'screen', 'sensor', 'port', 'bracket'],
    uses: ['the commute', 'video calls', 'travel', 'gaming nights'],
  },
  {
    name: 'sports',
    groups: [
      { name: 'fitness', kinds: ['yoga mat', 'jump rope', 'foam roller'], options: { color, size: length } },
      { name: 'camping', kinds: ['camp chair', 'sleeping bag', 'dome tent'], options: { color, size: bodySize } },
      { name: 'cycling', kinds: ['bike helmet', 'bike pump', 'bottle cage'], options: { color, size: bodySize } },
    ],
    attributes: [
      'non slip',
      'quick dry',
      'extra thick',
      'easy carry',
      'sweat proof',
      'high grip',
      'foldable frame',
      'shock absorbing',
      'wide strap',
      'all season',
      'heavy duty',
      'impact safe',
    ],
    nouns: ['strap', 'buckle', 'grip', 'pad', 'valve', 'pole', 'pouch', 'visor'],
    uses: ['home training', 'summer camps', 'long rides', 'the park'],
  },
  {
    name: 'pets',
    groups: [
      { name: 'dogs', kinds: ['dog collar', 'chew toy', 'dog bed'], options: { color, size: bodySize } },
      { name: 'cats', kinds: ['cat tree', 'litter scoop', 'cat tunnel'], options: { color, size: length } },
      { name: 'birds', kinds: ['bird feeder', 'bird cage', 'seed bell'], options: { color, pack } },
    ],
    attributes: [
      'chew proof',
      'easy clean',
      'odor free',
      'soft plush',
      'vet approved',
      'non toxic',
      'indoor use',
      'heavy duty',
      'removable cover',
      'adjustable fit',
      'calming touch',
      'long lasting',
    ],
    nouns: ['buckle', 'rope', 'bell', 'cushion', 'perch', 'bowl', 'hook', 'ring'],
    uses: ['playful pets', 'small homes', 'daily walks', 'quiet naps'],
  },
  {
    name: 'toys',
    groups: [
      { name: 'building', kinds: ['block set', 'train track', 'marble run'], options: { color, pack } },
      { name: 'games', kinds: ['card game', 'board game', 'dice set'], options: { color, pack } },
      { name: 'crafts', kinds: ['paint kit', 'bead kit', 'clay set'], options: { color, pack } },
    ],
    attributes: [
      'bpa free',
      'non toxic',
      'easy grip',
      'sturdy pieces',
      'family fun',
      'early learning',
      'battery less',
      'gift wrapped',
      'rounded edges',
      'travel size',
      'team play',
      'hand painted',
    ],
    nouns: ['piece', 'wheel', 'bridge', 'timer', 'tray', 'token', 'brush', 'box'],
    uses: ['rainy days', 'birthday parties', 'long trips', 'classrooms'],
  },
];
