use super::*;

const NODE: NodeSize = NodeSize { width: 60.0, height: 24.0, width_beside: 0.0, height_beside: 0.0 };

fn links(pairs: &[(usize, usize)]) -> Vec<LayoutLink> {
    pairs
        .iter()
        .map(|(source, target)| LayoutLink { source: *source, target: *target, width: 40.0, height: 12.0 })
        .collect()
}

/// Do no two nodes, and no node and label, lie on each other?
fn is_apart(sizes: &[NodeSize], links: &[LayoutLink], found: &Layout) -> bool {
    let node = |(size, at): (&NodeSize, &LayoutPoint)| {
        (
            at.x - size.width / 2.0,
            at.x + size.width / 2.0 + size.width_beside,
            at.y - size.height.max(size.height_beside) / 2.0,
            at.y + size.height.max(size.height_beside) / 2.0,
        )
    };
    let mut boxes: Vec<_> = sizes.iter().zip(&found.nodes).map(node).collect();
    for (link, route) in links.iter().zip(&found.routes) {
        if let LayoutRoute::Through { points, label } = route {
            let at = points[*label];
            boxes.push((
                at.x - link.width / 2.0,
                at.x + link.width / 2.0,
                at.y - link.height / 2.0,
                at.y + link.height / 2.0,
            ));
        }
    }
    boxes.iter().enumerate().all(|(number, a)| {
        boxes[..number].iter().all(|b| a.1 <= b.0 || b.1 <= a.0 || a.3 <= b.2 || b.3 <= a.2)
    })
}

#[test]
fn what_follows_lies_below_and_a_loop_goes_back_up() {
    let links = links(&[(0, 1), (1, 2), (2, 0), (1, 1)]);
    let found = lay_out(&[NODE; 3], &links);
    assert!(found.nodes[0].y < found.nodes[1].y && found.nodes[1].y < found.nodes[2].y);
    assert_eq!(found.routes[3], LayoutRoute::Loop);
    let LayoutRoute::Through { points, .. } = &found.routes[2] else { panic!("{:?}", found.routes[2]) };
    assert!(points.first().unwrap().y > points.last().unwrap().y, "it leads upwards");
}

#[test]
fn nothing_lies_on_anything_else() {
    let mut state = 1u64;
    let mut random = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    for round in 0..60 {
        let count = 1 + random(40);
        let sizes: Vec<NodeSize> = (0..count)
            .map(|_| NodeSize {
                width: 20.0 + random(90) as f64,
                height: 10.0 + random(40) as f64,
                width_beside: random(60) as f64,
                height_beside: random(80) as f64,
            })
            .collect();
        let mut pairs: Vec<(usize, usize)> =
            (0..random(90)).map(|_| (random(count), random(count))).collect();
        // Every third one has a hub.
        if round % 3 == 0 {
            pairs.extend((1..count).flat_map(|node| [(0, node), (node, 0)]));
        }
        let links = links(&pairs);
        let found = lay_out(&sizes, &links);
        assert!(is_apart(&sizes, &links, &found), "round {round}: {pairs:?}");
        assert_eq!(found, lay_out(&sizes, &links), "the same again");
        for at in &found.nodes {
            assert!(at.x >= 0.0 && at.x <= found.width && at.y >= 0.0 && at.y <= found.height);
        }
    }
}

#[test]
fn two_arrows_that_need_not_cross_do_not() {
    let links = links(&[(0, 1), (0, 2), (1, 4), (2, 3)]);
    let found = lay_out(&[NODE; 5], &links);
    assert_eq!(found.nodes[1].x < found.nodes[2].x, found.nodes[4].x < found.nodes[3].x);
}

#[test]
fn a_long_chain_is_deep_and_fast_and_its_way_back_has_no_route() {
    let count = 20_000;
    let mut pairs: Vec<(usize, usize)> = (1..count).map(|node| (node - 1, node)).collect();
    pairs.push((count - 1, 0));
    let links = links(&pairs);
    let found = lay_out(&vec![NODE; count], &links);
    assert_eq!(found.routes.last(), Some(&LayoutRoute::Far));
    assert!(found.nodes.iter().all(|at| at.x == found.nodes[0].x), "a chain is a straight line");
}

#[test]
fn nothing_is_a_picture_too() {
    let found = lay_out(&[], &[]);
    assert!(found.nodes.is_empty() && found.routes.is_empty());
}
