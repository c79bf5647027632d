// A large network drawn as wide and as high as there is room for: the further boxes are apart, the more of their names is seen from afar.
const FURTHEST = { x: 1.6, y: 2.4 }; // times as wide, and as high, at most
const WIDEST_GAP = 5; // times the gap between two layers, at most

// From what is drawn to the page, and back: heights within a layer stay as they are, gaps between layers grow.
function stretchedGaps(boxes, factor) {
  const layers = [];
  for (const [, y, , height] of [...boxes].sort((one, other) => one[1] - other[1])) {
    const last = layers.at(-1);
    if (last && y <= last[1]) last[1] = Math.max(last[1], y + height);
    else layers.push([y, y + height]);
  }
  const knots = []; // heights before and after
  const total = layers.at(-1)[1] - layers[0][0];
  const gaps = total - layers.reduce((sum, [top, bottom]) => sum + bottom - top, 0);
  const slope = gaps > 0 ? Math.min(WIDEST_GAP, 1 + ((factor - 1) * total) / gaps) : 1;
  let shift = 0;
  for (const [place, [top, bottom]] of layers.entries()) {
    if (place) shift += (slope - 1) * (top - layers[place - 1][1]);
    knots.push([top, top + shift], [bottom, bottom + shift]);
  }
  const through = (from, to) => (y) => {
    const place = knots.findIndex((knot) => y <= knot[from]);
    if (place === 0 || place === -1) return y + (knots.at(place)[to] - knots.at(place)[from]);
    const [one, other] = [knots[place - 1], knots[place]];
    const share = other[from] > one[from] ? (y - one[from]) / (other[from] - one[from]) : 0;
    return one[to] + share * (other[to] - one[to]);
  };
  return [through(0, 1), through(1, 0)];
}

// A picture as it is, with where its points are in it, and the other way round.
export const unstretched = (picture) => ({ picture, there: (point) => point, back: (point) => point });

// The picture for a part of the page, in the same way.
export function stretched(picture, bounds, { width, height }, far) {
  const own = bounds(picture);
  const [wide, high] = [width / own.width, height / own.height];
  if (!(Math.min(wide, high) < far) || !(width > 0 && height > 0)) return unstretched(picture);
  const factor = wide > high ? Math.min(FURTHEST.x, wide / high) : 1;
  const [down, up] = wide < high ? stretchedGaps(Object.values(picture.boxes), Math.min(FURTHEST.y, high / wide)) : [(y) => y, (y) => y];
  const there = ([x, y]) => [factor * x, down(y)];
  const boxes = Object.fromEntries(Object.entries(picture.boxes).map(([name, [x, y, own, height]]) => [name, [...there([x, y]), factor * own, height]]));
  return { picture: { ...picture, boxes, routes: picture.routes.map(([parent, child, points]) => [parent, child, points.map(there)]) }, there, back: ([x, y]) => [x / factor, up(y)] };
}
